import { generateKeyPairSync, sign } from 'node:crypto';
import * as oidc from 'openid-client';
import { apiScopes } from '../../server/http/index.ts';
import { device } from '../support/devices.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty, tokensFor } from '../support/relying-party.ts';

/** Client apps and their tokens. */
export interface FuzzApps {
  web: RelyingParty;
  partner: RelyingParty;
  /** Values of Authorization headers that are valid. */
  authorizations: string[];
  accessToken: string;
  refreshToken: string;
  idToken: string;
  basic: string;
  clientId: string;
  redirectUri: string;
  /** A DPoP proof with its own key and a client assertion: they are signed here and mutated later. */
  signedJwts: string[];
  userCode(): Promise<string>;
}

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** JWTs that a client signs: a DPoP proof (RFC 9449), a client assertion (RFC 7523) and a request object (RFC 9101). */
function signJwts(issuer: string, clientId: string, nowMs: number): string[] {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = publicKey.export({ format: 'jwk' });
  const iat = Math.floor(nowMs / 1000);
  const claims = { iss: clientId, sub: clientId, aud: issuer, iat, exp: iat + 60, jti: 'id-1' };
  const parts = [
    [
      { typ: 'dpop+jwt', alg: 'ES256', jwk },
      { jti: 'proof-1', htm: 'POST', htu: `${issuer}/oauth2/token`, iat },
    ],
    [{ typ: 'JWT', alg: 'ES256', kid: 'k' }, claims],
    [
      { typ: 'oauth-authz-req+jwt', alg: 'ES256' },
      { ...claims, client_id: clientId, response_type: 'code' },
    ],
  ] as const;
  return parts.map(([header, payload]) => {
    const content = `${base64url(header)}.${base64url(payload)}`;
    const signature = sign('sha256', Buffer.from(content), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return `${content}.${signature.toString('base64url')}`;
  });
}

export async function prepareApps(foyer: TestFoyer): Promise<FuzzApps> {
  const scopes = ['openid', 'profile', 'email', 'phone', 'address', 'account', 'offline_access'];
  const client = await foyer.addClient({ scopes });
  const web = await relyingParty(foyer, client, scopes.join(' '));
  const partner = await relyingParty(foyer, await foyer.addClient({ thirdParty: true }));
  const tokens = await tokensFor(web, foyer.browser(), await foyer.addUser());
  const service = await foyer.addClient({ service: true, redirectUris: [], scopes: [...apiScopes] });
  const own = await relyingParty(foyer, service);
  const { access_token: serviceToken } = await oidc.clientCredentialsGrant(own.config, { scope: apiScopes.join(' ') });
  const radio = await device(foyer, {});
  return {
    web,
    partner,
    clientId: client.id,
    redirectUri: client.redirectUri,
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token ?? 'none',
    idToken: tokens.id_token ?? '',
    authorizations: [`Bearer ${tokens.access_token}`, `Bearer ${serviceToken}`, `DPoP ${tokens.access_token}`],
    basic: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
    signedJwts: [tokens.id_token ?? '', ...signJwts(foyer.url, client.id, foyer.deps.now())],
    userCode: async () => (await radio.ask()).user_code,
  };
}
