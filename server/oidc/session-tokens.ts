import type Provider from 'oidc-provider';
import type { Client, Grant } from 'oidc-provider';
import { z } from 'zod';
import { type CurrentSession, toAcr } from '../sessions/index.ts';
import { parseUnknownJson, toClientId } from '../shared/index.ts';
import { claimsFor, type GetMembershipClaims, type User } from '../users/index.ts';
import { grantableScopes } from './load-existing-grant.ts';
import { isSensitiveScope } from './scopes.ts';
import type { SessionGrants } from './session-grants.ts';

const jwtExpiry = z.object({ exp: z.number() });

export interface Token {
  value: string;
  /** Seconds since the epoch, as tokens have it. */
  exp: number;
}

export interface SessionTokens {
  idToken: Token;
  accessToken: Token;
  refreshToken: Token;
}

/** The user for whom tokens are issued, and the session in which they are valid. */
export interface TokenOwner {
  session: CurrentSession;
  user: User;
}

/**
 * @param previous the refresh token that this replaces
 * @returns undefined if the session has ended meanwhile
 * @throws {errors.InvalidGrant} if the grant has ended meanwhile
 */
export type IssueSessionTokens = (
  client: Client,
  owner: TokenOwner,
  previous: string | undefined,
) => Promise<SessionTokens | undefined>;

interface SessionTokensSettings {
  provider: () => Provider;
  grants: SessionGrants;
  membershipClaims: GetMembershipClaims;
}

/** Short, because sibling apps can read it (`security.md`, rule 8). */
const accessTokenSeconds = 5 * 60;

/** Maximum length of the id token: with the two other cookies it stays under 4 KB. */
const maxIdTokenCharacters = 3_200;

interface IdTokenSubject extends TokenOwner {
  client: Client;
  /** Undefined: the client is not notified of the session's end. */
  sid: string | undefined;
}

/**
 * Browsers store cookies, and sibling apps read them: they must not contain scopes that change credentials or charge
 * cards.
 */
function listCookieScopes({ scope: registered }: Client): string[] {
  const scopes = grantableScopes((registered ?? '').split(' '), registered);
  return scopes.filter((scope) => !isSensitiveScope(scope));
}

/** Ends the previous token, if it belongs to this grant and is unused. Returns the start of its chain. */
async function rotate(provider: () => Provider, value: string | undefined, grant: Grant) {
  const before = value === undefined ? undefined : await provider().RefreshToken.find(value);
  if (!before?.isValid || before.grantId !== grant.jti) return {};
  await before.consume();
  return { iiat: before.iiat, rotations: (before.rotations ?? 0) + 1 };
}

async function createIdToken(
  { provider, membershipClaims }: SessionTokensSettings,
  { client, session, user, sid }: IdTokenSubject,
  scopes: readonly string[],
): Promise<string> {
  const about = { auth_time: Math.floor(session.authTimeMs / 1000), amr: session.amr, acr: toAcr(session.amr) };
  const claims = claimsFor(user, new Set(scopes), membershipClaims(user));
  const token = new (provider().IdToken)({ ...claims, ...about }, { client });
  // The library's types lack the property that it reads.
  Object.assign(token, { scope: scopes.join(' ') });
  if (sid !== undefined) token.set('sid', sid);
  return token.issue({ use: 'idtoken' });
}

/** Omits claims that would make it too long for a cookie; userinfo has them all. */
async function createShortIdToken(
  settings: SessionTokensSettings,
  subject: IdTokenSubject,
  scopes: readonly string[],
): Promise<string> {
  const attempts = [scopes, scopes.filter((scope) => scope === 'openid' || scope === 'email'), ['openid']];
  for (const attempt of attempts) {
    const value = await createIdToken(settings, subject, attempt);
    if (value.length <= maxIdTokenCharacters) return value;
  }
  throw new Error('an id token without claims is too long for a cookie');
}

function readExp(jwt: string): number {
  const payload = parseUnknownJson(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());
  return jwtExpiry.parse(payload).exp;
}

/**
 * Issues the tokens of a client app from a user's session, without a redirect: only for the client that is this site
 * itself. The library's own models store them, so they end with the grant like any others.
 */
export function createSessionTokens(settings: SessionTokensSettings): IssueSessionTokens {
  const { provider, grants } = settings;
  return async (client, { session, user }, previous) => {
    const { AccessToken, RefreshToken } = provider();
    const scopes = listCookieScopes(client);
    const clientId = toClientId(client.clientId);
    const notified = client.backchannelLogoutUri !== undefined;
    const sid = notified ? await grants.sidFor(session, clientId) : undefined;
    if (notified && sid === undefined) return undefined;
    const known = await grants.find(session, clientId);
    const grant = await grants.widen(session, clientId, { known, requested: { scopes } });
    if (!grant) return undefined;
    const chain = await rotate(provider, previous, grant);
    const common = {
      client,
      accountId: user.id,
      grantId: grant.jti,
      gty: 'authorization_code',
      scope: scopes.join(' '),
      expiresWithSession: false,
    };
    const nowSeconds = Math.floor(Date.now() / 1000);
    const accessExp = nowSeconds + accessTokenSeconds;
    const authTime = Math.floor(session.authTimeMs / 1000);
    const accessToken = new AccessToken({
      ...common,
      exp: accessExp,
      extra: { auth_time: authTime, acr: toAcr(session.amr), amr: session.amr },
    });
    const refreshToken = new RefreshToken({
      ...common,
      ...chain,
      authTime,
      amr: session.amr,
      acr: toAcr(session.amr),
    });
    const refreshExp = nowSeconds + refreshToken.expiration;
    refreshToken.exp = refreshExp;
    const [access, refresh, id] = await Promise.all([
      accessToken.save(),
      refreshToken.save(),
      createShortIdToken(settings, { client, session, user, sid }, scopes),
    ]);
    return {
      accessToken: { value: access, exp: accessExp },
      refreshToken: { value: refresh, exp: refreshExp },
      idToken: { value: id, exp: readExp(id) },
    };
  };
}
