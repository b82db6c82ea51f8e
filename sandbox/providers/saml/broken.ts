import { hourMs } from '../../../server/shared/index.ts';
import type { Broken } from '../answers.ts';
import type { Signer } from '../signer.ts';
import { newSamlId, type SamlResponseOptions } from './response.ts';

interface FaultContext {
  nowMs: number;
  /** A signer of another provider. */
  otherSigner(): Signer;
}

const wrongParts: Partial<Record<Broken, (context: FaultContext) => SamlResponseOptions>> = {
  status: () => ({
    status: 'Responder',
    subStatus: 'AuthnFailed',
    statusMessage: 'Something went wrong at Acme Corporate.',
  }),
  'no-assertion': () => ({ assertion: '' }),
  'not-xml': () => ({ afterSigning: () => 'this is no XML' }),
  unsigned: () => ({ sign: 'none' }),
  'other-key': ({ otherSigner }) => ({ signer: otherSigner() }),
  changed: () => ({ afterSigning: (xml) => xml.replace('</saml:NameID>', 'x</saml:NameID>') }),
  'wrong-audience': () => ({ audience: 'https://another-app.example/metadata' }),
  'wrong-recipient': () => ({ recipient: 'https://another-app.example/acs' }),
  'wrong-destination': () => ({ destination: 'https://another-app.example/acs' }),
  'wrong-issuer': () => ({ issuer: 'https://somebody-else.example/metadata' }),
  expired: ({ nowMs }) => ({
    issuedAtMs: nowMs - hourMs,
    notBeforeMs: nowMs - hourMs,
    notOnOrAfterMs: nowMs - hourMs / 2,
  }),
  'not-yet': ({ nowMs }) => ({
    issuedAtMs: nowMs + hourMs,
    notBeforeMs: nowMs + hourMs,
    notOnOrAfterMs: nowMs + 2 * hourMs,
  }),
  unsolicited: () => ({ inResponseTo: null }),
  'wrong-request': () => ({ inResponseTo: newSamlId() }),
  'no-subject': () => ({ nameId: null }),
};

/** The differences between a correct response and one with this fault. */
export function brokenResponse(broken: Broken | undefined, context: FaultContext): SamlResponseOptions {
  return (broken && wrongParts[broken]?.(context)) ?? {};
}
