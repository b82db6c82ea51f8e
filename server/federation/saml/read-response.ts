import { FederationError } from '../identity.ts';
import { type Assertion, checkAssertion, readAssertion } from './assertion.ts';
import { minimalResponse } from './minimal-response.ts';
import { checkResponse, decodeMessage, type ExpectedResponse } from './response-checks.ts';
import { runStrategy } from './run-strategy.ts';
import { type AuthnRequestRecord, type SamlService, samlOptions } from './service.ts';
import { xmlError } from './xml.ts';

interface PostedSamlResponse {
  /** The field SAMLResponse. */
  encoded: string;
  expected: ExpectedResponse;
  /** Undefined: the response is unsolicited. */
  request: AuthnRequestRecord | undefined;
}

/**
 * Verifies a response: first the unsigned parts, then the signature, then the signed parts. The library verifies the
 * assertion, and exactly that is read. The earlier checks cheaply refuse what the library would refuse at high cost.
 * @throws {FederationError}
 */
export async function readSamlResponse(
  service: SamlService,
  { encoded, expected, request }: PostedSamlResponse,
): Promise<Assertion> {
  const signed = checkResponse(decodeMessage(encoded), expected);
  checkAssertion(signed, expected);
  const response = minimalResponse(signed, expected.requestId);
  const body = { SAMLResponse: Buffer.from(response, 'utf8').toString('base64') };
  const saml = samlOptions(service, request, false);
  const result = await runStrategy(service, { saml, body }).catch((error: unknown) => {
    throw error instanceof FederationError ? error : xmlError(toRefusalReason(error));
  });
  const profile = result.kind === 'success' ? (result.user as { getAssertionXml?(): string }) : undefined;
  if (!profile?.getAssertionXml) throw xmlError('the answer holds no signed assertion');
  return readAssertion(profile.getAssertionXml(), expected);
}

/** The library's messages repeat the input; these do not. */
function toRefusalReason(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  const known: [RegExp, string][] = [
    [/audience/i, 'the assertion is for another audience'],
    [/InResponseTo/i, 'the answer is not to the request of this attempt'],
    [/multiple assertions/i, 'the response has more than one assertion'],
    [/signature/i, 'the assertion is not signed by this provider'],
    [/Error parsing/, 'the assertion has no time, or one that is none'],
    [/subject confirmation/i, 'the subject is not confirmed'],
  ];
  return known.find(([words]) => words.test(message))?.[1] ?? 'the answer is not what SAML says';
}
