import { hourMs } from '../../../server/shared/index.ts';
import type { Broken } from '../answers.ts';
import type { Signer } from '../signer.ts';
import { newSamlId, type SamlResponseOptions } from './response.ts';

/** The differences of a response with this fault. */
export function brokenResponse(broken: Broken | undefined, nowMs: number, other: () => Signer): SamlResponseOptions {
  switch (broken) {
    case 'status':
      return {
        status: 'Responder',
        subStatus: 'AuthnFailed',
        statusMessage: 'Something went wrong at Acme Corporate.',
      };
    case 'no-assertion':
      return { assertion: '' };
    case 'not-xml':
      return { afterSigning: () => 'this is no XML' };
    case 'unsigned':
      return { sign: 'none' };
    case 'other-key':
      return { signer: other() };
    case 'changed':
      return { afterSigning: (xml) => xml.replace('</saml:NameID>', 'x</saml:NameID>') };
    case 'wrong-audience':
      return { audience: 'https://another-app.example/metadata' };
    case 'wrong-recipient':
      return { recipient: 'https://another-app.example/acs' };
    case 'wrong-destination':
      return { destination: 'https://another-app.example/acs' };
    case 'wrong-issuer':
      return { issuer: 'https://somebody-else.example/metadata' };
    case 'expired':
      return { issuedAtMs: nowMs - hourMs, notBeforeMs: nowMs - hourMs, notOnOrAfterMs: nowMs - hourMs / 2 };
    case 'not-yet':
      return { issuedAtMs: nowMs + hourMs, notBeforeMs: nowMs + hourMs, notOnOrAfterMs: nowMs + 2 * hourMs };
    case 'unsolicited':
      return { inResponseTo: null };
    case 'wrong-request':
      return { inResponseTo: newSamlId() };
    case 'no-subject':
      return { nameId: null };
    default:
      return {};
  }
}
