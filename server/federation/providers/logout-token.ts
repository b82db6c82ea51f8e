import {
  compactDecrypt,
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  decodeProtectedHeader,
  type JWTPayload,
  jwtVerify,
} from 'jose';
import type * as client from 'openid-client';
import type { OidcProviderConfig } from '../../../config/providers.ts';
import { FederationError } from '../identity.ts';
import type { LogoutToken, OidcLogout, StrategySettings } from '../providers.ts';
import { toDecryptionKeys } from './client-keys.ts';
import { contentEncryption, fetchBounded, type ProviderDiscovery } from './discovery.ts';
import { issuerFor, refuseForeignKey } from './key-issuer.ts';
import { toErrorWord } from './oauth2-errors.ts';
import { providerTimeoutMs } from './passport.ts';
import { isNameOfPerson } from './profile-claims.ts';

const event = 'http://schemas.openid.net/event/backchannel-logout';
const maxCharacters = 8_192;
/** Clocks differ, and a provider may try again for a while: an older token was kept. */
const [skewS, maxAgeS] = [60, 15 * 60];
/** An unknown key is looked for at the provider at most this often, so that strangers cannot have it asked at will. */
const keysEveryMs = 10_000;

/** Never `none`, and no HMAC: the client secret, or a public key in its place, must not sign. */
const asymmetric = /^(?:(?:RS|PS|ES)(?:256|384|512)|EdDSA|Ed25519)$/;
/** The type is recommended; without it, and as `JWT`, the claims tell a logout token from an id token (section 2.4). */
const types: readonly unknown[] = [undefined, 'jwt', 'logout+jwt', 'application/logout+jwt'];

const invalid = (detail: string) => new FederationError('invalid', `logout token: ${detail}`);

type LogoutConfig = Pick<OidcProviderConfig, 'clientId' | 'issuer'> &
  Partial<Pick<OidcProviderConfig, 'decryptionKey'>>;

/** @returns the signed token in an encrypted one; any other token as it is. The words are the same for every fault */
async function decryptToken(token: string, { decryptionKey }: LogoutConfig): Promise<string> {
  if (token.split('.', 6).length !== 5) return token;
  if (token.length > maxCharacters) throw invalid('too long');
  if (decryptionKey === undefined) throw invalid('encrypted, and there is no decryptionKey');
  try {
    const { alg, kid } = decodeProtectedHeader(token);
    const keys = await toDecryptionKeys(decryptionKey);
    const own = keys.find((one) => one.alg === alg && (kid === undefined || one.kid === kid));
    if (own?.alg === undefined) throw invalid('encrypted for another key');
    const { plaintext } = await compactDecrypt(token, own.key, {
      keyManagementAlgorithms: [own.alg],
      contentEncryptionAlgorithms: contentEncryption,
    });
    return new TextDecoder().decode(plaintext);
  } catch (error) {
    throw error instanceof FederationError ? error : invalid('cannot be decrypted');
  }
}

/** Makes the checks that need neither a key nor the provider: most tokens of strangers end here. */
function refuseForeignToken(token: string, { clientId }: LogoutConfig): JWTPayload {
  if (token === '') throw invalid('absent');
  // Encryption may compress it.
  if (token.length > maxCharacters) throw invalid('too long');
  const { header, claims } = decode(token);
  if (!asymmetric.test(String(header.alg))) throw invalid('the algorithm is not asymmetric');
  const { typ } = header;
  if (!types.includes(typeof typ === 'string' ? typ.toLowerCase() : typ)) throw invalid('of another type');
  if (![claims.aud].flat().includes(clientId)) throw invalid('for another client');
  return claims;
}

function decode(token: string): { header: { alg?: unknown; typ?: unknown }; claims: JWTPayload } {
  try {
    return { header: decodeProtectedHeader(token), claims: decodeJwt(token) };
  } catch {
    throw invalid('not readable');
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Section 2.6, steps 4 to 8. The library has checked issuer, audience and times. */
function readClaims({ iss = '', sub, sid, jti = '', events, nonce, iat = 0 }: JWTPayload): LogoutToken {
  if (!isObject(events) || !isObject(events[event])) throw invalid('without the event of a logout');
  if (nonce !== undefined) throw invalid('with a nonce, as id tokens have');
  if (typeof jti !== 'string' || jti === '') throw invalid('without a jti');
  if (sub !== undefined && typeof sub !== 'string') throw invalid('sub is no text');
  if (sid !== undefined && !isNameOfPerson(sid)) throw invalid('sid is no text');
  if (sub === undefined && sid === undefined) throw invalid('with neither sub nor sid');
  return { issuer: iss, subject: sub, sid, jti, untilMs: (iat + maxAgeS + skewS) * 1_000 };
}

/** Of an error of the library: its codes and the name of a claim, nothing of the token. */
function toRefusal(error: unknown): FederationError {
  if (error instanceof FederationError) return error;
  const { code, claim } = (error ?? {}) as { code?: unknown; claim?: unknown };
  return invalid(
    [code, claim]
      .filter((word) => word !== undefined)
      .map(toErrorWord)
      .join(' '),
  );
}

/** Reads the logout tokens of one provider (OpenID Connect Back-Channel Logout 1.0, sections 2.4 and 2.6). */
export function readLogoutTokens(
  settings: Pick<StrategySettings, 'now' | 'answerMs'>,
  config: LogoutConfig,
  discovery: ProviderDiscovery,
): OidcLogout {
  let keys: { uri: string; find: ReturnType<typeof createRemoteJWKSet> } | undefined;

  function keysAt({ jwks_uri: uri }: client.ServerMetadata) {
    if (uri === undefined) throw invalid('the provider publishes no keys');
    // As the library of sign-ins has it: plain http is for this machine alone.
    if (!uri.startsWith('https://') && !config.issuer.startsWith('http://'))
      throw invalid('the keys of the provider have no address by TLS');
    if (keys?.uri !== uri) {
      const timeoutDuration = settings.answerMs ?? providerTimeoutMs;
      const find = createRemoteJWKSet(new URL(uri), {
        timeoutDuration,
        cooldownDuration: keysEveryMs,
        [customFetch]: (url, { method, headers, signal }) =>
          fetchBounded(url, { method, headers: Object.fromEntries(headers), body: null, signal, redirect: 'manual' }),
      });
      keys = { uri, find };
    }
    return keys.find;
  }

  return {
    async read(sent) {
      const token = await decryptToken(sent, config);
      const claims = refuseForeignToken(token, config);
      try {
        const metadata = (await discovery()).serverMetadata();
        const known = metadata.id_token_signing_alg_values_supported?.filter((alg) => asymmetric.test(alg));
        const find = keysAt(metadata);
        const { payload, protectedHeader } = await jwtVerify(token, find, {
          issuer: issuerFor(metadata.issuer, claims),
          audience: config.clientId,
          ...(known !== undefined && known.length > 0 && { algorithms: known }),
          currentDate: new Date(settings.now()),
          clockTolerance: skewS,
          maxTokenAge: maxAgeS,
          requiredClaims: ['exp', 'iat', 'jti', 'events'],
        });
        refuseForeignKey({ issuer: metadata.issuer, keys: find.jwks()?.keys }, protectedHeader.kid, payload);
        return readClaims(payload);
      } catch (error) {
        throw toRefusal(error);
      }
    },
  };
}
