import { MultiSamlStrategy, type PassportSamlConfig, type VerifyWithoutRequest } from '@node-saml/passport-saml';
import { FederationRefusal } from '../identity.ts';
import { type Outcome, run } from '../kinds/passport.ts';
import { type Assertion, readAssertion } from './assertion.ts';
import { checkEnvelope, decodeMessage, type Expected } from './envelope.ts';
import { type KnownRequest, libraryOptions, type SamlService } from './service.ts';
import { invalid } from './xml.ts';

/** Of a request, what the strategy reads; and the provider whose turn it is. */
interface Asking {
  saml: PassportSamlConfig;
  query: Record<string, string>;
  body: Record<string, string>;
  headers: Record<string, string>;
}

const signedOn: VerifyWithoutRequest = (profile, done) => done(null, profile ?? undefined);
/** Logouts go another way (logout.ts). */
const signedOff: VerifyWithoutRequest = (_profile, done) => done(new Error('a logout where none belongs'));

/** One strategy for all SAML providers: each run is set for the provider, and for the one request, that it is about. */
const strategy = new MultiSamlStrategy(
  { getSamlOptions: (req, done) => done(null, (req as unknown as Asking).saml) },
  signedOn,
  signedOff,
);

const runFor = (saml: PassportSamlConfig, given: Partial<Asking>, options: object = {}): Promise<Outcome> =>
  run(strategy, { saml, query: {}, body: {}, headers: {}, ...given } satisfies Asking, options);

/** @returns where the browser goes to be asked */
export async function addressToAsk(
  service: SamlService,
  request: KnownRequest,
  { relayState, again, loginHint }: { relayState: string; again: boolean; loginHint: string | undefined },
): Promise<string> {
  const options = { ...libraryOptions(service, request, service.config.signRequests), forceAuthn: again };
  // No part of SAML, but what Google and Microsoft read; it is not signed, and nothing hangs on it.
  const additionalParams = loginHint === undefined ? {} : { login_hint: loginHint };
  const outcome = await runFor(options, { query: { RelayState: relayState } }, { additionalParams });
  if (outcome.kind !== 'redirect') throw new Error('the SAML strategy did not redirect');
  return outcome.url;
}

/**
 * Reads an answer: what anybody could have written around it, then the signature, then what is signed.
 * @param encoded the field SAMLResponse
 * @throws {FederationRefusal}
 */
export async function readAnswer(
  service: SamlService,
  encoded: string,
  expected: Expected,
  request: KnownRequest | undefined,
): Promise<Assertion> {
  const xml = decodeMessage(encoded);
  await checkEnvelope(xml, expected);
  const body = { SAMLResponse: Buffer.from(xml, 'utf8').toString('base64') };
  const outcome = await runFor(libraryOptions(service, request, false), { body }).catch((error: unknown) => {
    throw error instanceof FederationRefusal ? error : invalid(reasonOf(error));
  });
  const profile = outcome.kind === 'success' ? (outcome.user as { getAssertionXml?(): string }) : undefined;
  if (!profile?.getAssertionXml) throw invalid('the answer holds no signed assertion');
  return readAssertion(profile.getAssertionXml(), expected);
}

/** The library's own words repeat what was sent; these do not. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  const known: [RegExp, string][] = [
    [/audience/i, 'the assertion is for another audience'],
    [/InResponseTo/i, 'the answer is not to the request of this attempt'],
    [/multiple assertions/i, 'the response has more than one assertion'],
    [/signature/i, 'the assertion is not signed by this provider'],
    [/decrypt|encrypt/i, 'the assertion cannot be decrypted'],
    [/Error parsing/, 'the assertion has no time, or one that is none'],
    [/subject confirmation/i, 'the subject is not confirmed'],
  ];
  return known.find(([words]) => words.test(message))?.[1] ?? 'the answer is not what SAML says';
}
