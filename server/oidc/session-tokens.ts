import type Provider from 'oidc-provider';
import type { Client, Grant } from 'oidc-provider';
import { type CurrentSession, toAcr } from '../sessions/index.ts';
import { claimsFor, type GetMembershipClaims, type User } from '../users/index.ts';
import { grantableScopes } from './load-existing-grant.ts';
import { isSensitiveScope } from './scopes.ts';
import type { SessionGrants } from './session-grants.ts';

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

/**
 * @param previous the refresh token that this replaces
 * @returns undefined when the session has ended meanwhile
 * @throws {errors.InvalidGrant} when the grant ended meanwhile
 */
export type IssueSessionTokens = (
  client: Client,
  session: CurrentSession,
  user: User,
  previous: string | undefined,
) => Promise<SessionTokens | undefined>;

/** Short, because siblings may see it (`security.md`, rule 8). */
const accessTokenSeconds = 5 * 60;

/** How long the id token may become: with its two companions it stays under 4 KB. */
const maxIdTokenCharacters = 3_200;

/**
 * Makes the tokens of a client app out of a member's session, without a redirect: for the one client that is this site
 * itself. The library's own models make and keep them, so they end with the grant like any others.
 */
export function createSessionTokens(
  provider: () => Provider,
  grants: SessionGrants,
  membershipClaims: GetMembershipClaims,
): IssueSessionTokens {
  /** Ends the token before, if it is one of this grant that has not been used; answers when its chain began. */
  async function rotate(value: string | undefined, grant: Grant) {
    const before = value === undefined ? undefined : await provider().RefreshToken.find(value);
    if (!before?.isValid || before.grantId !== grant.jti) return {};
    await before.consume();
    return { iiat: before.iiat, rotations: (before.rotations ?? 0) + 1 };
  }

  interface TokenSubject {
    client: Client;
    session: CurrentSession;
    user: User;
    /** Undefined: the client is not told when the session ends. */
    sid: string | undefined;
  }

  async function idTokenFor({ client, session, user, sid }: TokenSubject, scopes: readonly string[]) {
    const about = { auth_time: Math.floor(session.authTimeMs / 1000), amr: session.amr, acr: toAcr(session.amr) };
    const claims = claimsFor(user, new Set(scopes), membershipClaims(user));
    const token = new (provider().IdToken)({ ...claims, ...about }, { client });
    // The library's types do not know the property that it reads.
    Object.assign(token, { scope: scopes.join(' ') });
    if (sid !== undefined) token.set('sid', sid);
    return token.issue({ use: 'idtoken' });
  }

  /** Claims that would make it too long for a cookie are left out; userinfo has them all. */
  async function shortIdToken(about: TokenSubject, scopes: readonly string[]) {
    const attempts = [scopes, scopes.filter((scope) => scope === 'openid' || scope === 'email'), ['openid']];
    for (const attempt of attempts) {
      const value = await idTokenFor(about, attempt);
      if (value.length <= maxIdTokenCharacters) return value;
    }
    throw new Error('an id token without claims is too long for a cookie');
  }

  const readExp = (jwt: string): number => {
    const { exp } = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()) as { exp: number };
    return exp;
  };

  return async (client, session, user, previous) => {
    const { AccessToken, RefreshToken } = provider();
    // Cookies lie in browsers, and sibling apps read them: nothing that changes credentials or charges cards goes there.
    const scopes = grantableScopes((client.scope ?? '').split(' '), client.scope).filter(
      (scope) => !isSensitiveScope(scope),
    );
    const notified = client.backchannelLogoutUri !== undefined;
    const sid = notified ? await grants.sidFor(session, client.clientId) : undefined;
    if (notified && sid === undefined) return undefined;
    const known = await grants.find(session, client.clientId);
    const grant = await grants.widen(session, client.clientId, known, { scopes });
    if (!grant) return undefined;
    const chain = await rotate(previous, grant);
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
      shortIdToken({ client, session, user, sid }, scopes),
    ]);
    return {
      accessToken: { value: access, exp: accessExp },
      refreshToken: { value: refresh, exp: refreshExp },
      idToken: { value: id, exp: readExp(id) },
    };
  };
}
