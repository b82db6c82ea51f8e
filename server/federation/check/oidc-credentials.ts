import * as client from 'openid-client';
import type { OidcProviderConfig } from '../../../config/providers.ts';
import { type AuthenticationWay, authenticationWays, secretWays } from '../providers/client-authentication.ts';
import { type Discovered, discoverOnce } from '../providers/discovery.ts';
import { fromOidcError, isWrongClient, isWrongCode, readErrorWord } from '../providers/oidc-errors.ts';
import { toProbeUrl, unknownWord } from './probe.ts';
import type { ProviderCheckResult } from './report.ts';

/** The answer of the token endpoint to a code that it has issued to no one. */
type ProbeAnswer =
  /** `invalid_grant`: it knows the client (RFC 6749, section 5.2). */
  | { kind: 'accepted' }
  | { kind: 'refused' }
  /** Another error word. */
  | { kind: 'word'; word: string }
  | { kind: 'fault'; says: string };

export interface CredentialsCheck {
  config: OidcProviderConfig;
  discovered: Discovered;
  /** Registered at the provider. */
  redirectUri: string;
  /** Of Foyer's public keys. */
  keysUrl: string;
  answerMs?: number | undefined;
}

async function probe(
  { config, discovered: { document }, redirectUri, answerMs }: CredentialsCheck,
  { authenticate }: AuthenticationWay,
): Promise<ProbeAnswer> {
  const { configuration } = await discoverOnce(config, { answerMs, authenticate, document });
  const answer = toProbeUrl(redirectUri, configuration.serverMetadata().issuer);
  try {
    await client.authorizationCodeGrant(configuration, answer, { pkceCodeVerifier: client.randomPKCECodeVerifier() });
    return { kind: 'fault', says: 'it gave a token for a code that it had issued to no one' };
  } catch (error) {
    if (isWrongCode(error)) return { kind: 'accepted' };
    if (isWrongClient(error)) return { kind: 'refused' };
    const word = readErrorWord(error);
    if (word !== undefined && word !== 'unsupported_grant_type') return { kind: 'word', word };
    return { kind: 'fault', says: `its token endpoint does not answer as it should (${fromOidcError(error).detail})` };
  }
}

/** The first of the ways that the provider accepts. */
async function findAccepted(
  check: CredentialsCheck,
  ways: readonly AuthenticationWay[],
): Promise<AuthenticationWay | undefined> {
  for (const way of ways) if ((await probe(check, way)).kind === 'accepted') return way;
  return undefined;
}

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;

/** Its own list of methods, if it names none that was tried: then it explains the refusal. */
function describeMethods({ token_endpoint_auth_methods_supported: methods }: client.ServerMetadata): string {
  if (methods === undefined || methods.length === 0) return '';
  return `; it takes ${methods.join(', ')} (token_endpoint_auth_methods_supported)`;
}

/** A provider that refuses the first way: whether another is accepted. */
async function explainRefusal(
  check: CredentialsCheck,
  ways: readonly AuthenticationWay[],
): Promise<ProviderCheckResult> {
  const { config, discovered, keysUrl } = check;
  const server = discovered.configuration.serverMetadata();
  const [first, ...others] = ways;
  const methods = describeMethods(server);
  if (first?.name === 'none') return { faults: [`it does not take clientId without a secret${methods}`] };
  if (first?.name === 'private_key_jwt') {
    if (await findAccepted(check, others)) return {};
    return { faults: [`it does not take private_key_jwt: register ${keysUrl} there${methods}`] };
  }
  const credentials = 'clientId and clientSecret';
  const rest = secretWays(config, server).filter(({ name }) => name !== first?.name);
  const accepted = await findAccepted(check, rest);
  if (accepted === undefined) {
    const tried = listed([first, ...rest].flatMap((way) => way?.name ?? []));
    return { faults: [`it does not take ${credentials} by ${tried} (clientAuthentication)${methods}`] };
  }
  const says = `it takes ${credentials} by ${accepted.name}, not by ${first?.name}: set clientAuthentication to ${accepted.name}`;
  // Without the setting a sign-in tries the other ways, too.
  return config.clientAuthentication === undefined ? { warnings: [says] } : { faults: [says] };
}

/** Whether the provider takes Foyer's credentials in the configured way, else in which. */
export async function checkCredentials(check: CredentialsCheck): Promise<ProviderCheckResult> {
  const ways = authenticationWays(check.config, check.discovered.configuration.serverMetadata());
  const [first] = ways;
  if (!first) return {};
  const answer = await probe(check, first);
  switch (answer.kind) {
    case 'accepted':
      return {};
    case 'refused':
      return explainRefusal(check, ways);
    case 'word':
      return { warnings: [unknownWord(answer.word)] };
    case 'fault':
      return { faults: [answer.says] };
  }
}
