import { createHash } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';
import * as client from 'openid-client';
import type { OidcProviderConfig } from '../../../config/providers.ts';
import { FederationError } from '../identity.ts';
import { refuseForeignKey } from './key-issuer.ts';
import { readFlag, toEmail } from './profile-claims.ts';

/** The verified claims of the id token and of userinfo. */
export type IdentityClaims = Record<string, unknown>;

/**
 * The library has verified the id token: signature, issuer, audience, nonce, times; and that userinfo belongs to the
 * same subject.
 */
export async function fetchClaims(
  configuration: client.Configuration,
  config: OidcProviderConfig,
  tokens: client.TokenEndpointResponse & client.TokenEndpointResponseHelpers,
): Promise<IdentityClaims> {
  const claims = tokens.claims();
  if (claims === undefined) throw new FederationError('invalid', 'no id token');
  // The library checks it only if there are several audiences (Core 1.0, section 3.1.3.7).
  if (claims.azp !== undefined && claims.azp !== config.clientId)
    throw new FederationError('invalid', 'the id token was given to another client');
  mustBelongTogether(tokens.id_token ?? '', claims, tokens.access_token);
  const { issuer } = configuration.serverMetadata();
  const keys = client.getJwksCache(configuration)?.jwks.keys;
  refuseForeignKey({ issuer, keys }, keyName(tokens.id_token ?? ''), claims);
  if (!config.userinfo || configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
  const more: IdentityClaims = await client.fetchUserInfo(configuration, tokens.access_token, claims.sub);
  return mergeClaims(claims, more);
}

/** @returns undefined: it has none, or is encrypted and hides it */
function keyName(idToken: string): unknown {
  return idToken.split('.').length === 5 ? undefined : decodeProtectedHeader(idToken).kid;
}

const hashes: Record<string, string> = { '256': 'sha256', '384': 'sha384', '512': 'sha512', DSA: 'sha512' };
/** By the length of half of their digest, in base64url. */
const hashesByLength: Record<number, string> = { 22: 'sha256', 32: 'sha384', 43: 'sha512' };

/** @returns the name of the hash; undefined: no hash belongs to the algorithm. An encrypted token hides its algorithm */
function findHash(idToken: string, response: unknown): string | undefined {
  if (idToken.split('.').length === 5) return hashesByLength[String(response).length] ?? 'sha256';
  const { alg = '' } = decodeProtectedHeader(idToken);
  return hashes[alg.slice(-3)];
}

/**
 * An id token may be bound to its access token (`at_hash`: Core 1.0, section 3.1.3.8). The library does not check it in
 * this flow; a mismatch means that two responses were mixed.
 */
function mustBelongTogether(idToken: string, { at_hash: response }: IdentityClaims, accessToken: string): void {
  if (response === undefined) return;
  const hash = findHash(idToken, response);
  if (hash === undefined) return;
  const digest = createHash(hash).update(accessToken).digest();
  if (response !== digest.subarray(0, digest.length / 2).toString('base64url'))
    throw new FederationError('invalid', 'the id token belongs to another access token');
}

/**
 * Userinfo has precedence, but not over what the id token says about the sign-in; and `email_verified` must come from the
 * same source as the address.
 */
export function mergeClaims(claims: IdentityClaims, more: IdentityClaims): IdentityClaims {
  const { iss, auth_time, sid } = claims;
  const whole: IdentityClaims = { ...claims, ...more, iss, auth_time, sid };
  const source = more.email === undefined ? claims : more;
  // A provider that denies it in one of both, in whatever letter case, does not vouch for the address.
  const email = toEmail(source.email);
  const denied = [claims, more].some(
    (one) => readFlag(one.email_verified) === false && (one.email === undefined || toEmail(one.email) === email),
  );
  return { ...whole, email: source.email, email_verified: denied ? false : source.email_verified };
}
