import type { Request, RequestHandler, Response } from 'express';
import type Provider from 'oidc-provider';
import type { HostCookies, Logger } from '../http/index.ts';
import type { CurrentSession, Sessions } from '../sessions/index.ts';
import type { ClientId } from '../shared/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';
import { findCurrentUser, type User } from '../users/index.ts';
import type { CanAccessClient } from './access-rule.ts';
import type { IssueSessionTokens, SessionTokens, Token, TokenOwner } from './session-tokens.ts';

interface TokenCookieDeps {
  /** The client that owns them. */
  clientId: ClientId;
  /** Only for this host. */
  hostCookies: HostCookies;
  /** For a domain whose apps share the id token and the access token; this host's own if there is none. */
  shared: HostCookies;
  database: Database;
  kv: KeyValueStore;
  log: Logger;
  provider: () => Provider;
  issue: IssueSessionTokens;
  /** Tests whether this user has no open step before an authorization: terms, a confirmation. */
  isReady(user: User): boolean;
  canAccessClient: CanAccessClient;
  now: () => number;
}

export interface TokenCookies {
  /** After a sign-in. */
  mint(res: Response, session: CurrentSession): Promise<void>;
  /** After a sign-out. */
  clear(res: Response): void;
  /** On pages: renews them before they expire, and deletes those without a session. */
  keep(sessions: Pick<Sessions, 'getCurrentUser'>): RequestHandler;
}

const idCookie = 'foyer_id_token';
const accessCookie = 'foyer_access_token';
const refreshCookie = 'foyer_refresh_token';

/** Renewal starts this long before the access token expires. */
const renewBeforeMs = 2 * 60_000;
/** Only one request in this time renews them; a slower page has given up. */
const leaseMs = 30_000;

/** The refresh token's cookie starts with the time at which all three are due, in base 36. */
const refreshValue = (dueMs: number, token: string) => `${dueMs.toString(36)}.${token}`;

/**
 * The tokens of the marketplace's own web client as cookies, which the specification's apps read (`specification.md`,
 * section 7; `security.md`, rule 8). All are HttpOnly and end with their token; without Remember me the refresh token's
 * ends with the browser's session, and its token with the user's (`sweepsEndedSessions`). It never leaves this host. Foyer issues them but never uses them for authentication: only the session does that.
 */
export function createTokenCookies(deps: TokenCookieDeps): TokenCookies {
  const { hostCookies, shared, kv, log, now } = deps;

  function write(res: Response, { idToken, accessToken, refreshToken }: SessionTokens, remember: boolean): void {
    const toCookie = ({ value, exp }: Token) => ({ value, expires: new Date(exp * 1000) });
    shared.set(res, idCookie, toCookie(idToken));
    shared.set(res, accessCookie, toCookie(accessToken));
    const dueMs = Math.min(idToken.exp, accessToken.exp) * 1000 - renewBeforeMs;
    const value = refreshValue(dueMs, refreshToken.value);
    // Like the session cookie, it does not outlive a browser that is not remembered.
    hostCookies.set(res, refreshCookie, remember ? { ...toCookie(refreshToken), value } : { value });
  }

  function clear(res: Response): void {
    shared.clear(res, idCookie);
    shared.clear(res, accessCookie);
    hostCookies.clear(res, refreshCookie);
  }

  const present = (req: Request) => ({
    refresh: hostCookies.read(req, refreshCookie),
    idToken: shared.read(req, idCookie),
    accessToken: shared.read(req, accessCookie),
  });

  /** An error here must not fail a page: without cookies the user signs in to the app by a redirect as usual. */
  async function renew(res: Response, { session, user }: TokenOwner, previous?: string): Promise<void> {
    try {
      const client = await deps.provider().Client.find(deps.clientId);
      // A cookie proves no key: a client app with bound tokens gets no cookies (RFC 9449, section 5.2).
      if (client && (client.dpopBoundAccessTokens || !deps.canAccessClient(client, user))) return clear(res);
      const lease = `token-cookies:${session.idHash}`;
      if (!client || !(await kv.setIfAbsent(lease, '1', leaseMs))) return;
      const tokens = await deps.issue(client, { session, user }, previous);
      if (tokens) write(res, tokens, session.remember);
    } catch (error) {
      log.warn({ err: error }, 'could not create the token cookies');
    }
  }

  return {
    clear,
    async mint(res, session) {
      const user = await findCurrentUser(deps.database, session.userId);
      if (user && deps.isReady(user)) await renew(res, { session, user });
      else clear(res);
    },
    keep: (sessions) => async (req, res, next) => {
      if (req.method !== 'GET') return next();
      const { refresh, idToken, accessToken } = present(req);
      const member = await sessions.getCurrentUser(req);
      if (!member || !deps.isReady(member.user)) {
        if (refresh !== undefined || idToken !== undefined || accessToken !== undefined) clear(res);
        return next();
      }
      const [due = '', token] = refresh?.split('.', 2) ?? [];
      const fresh = idToken !== undefined && accessToken !== undefined && Number.parseInt(due, 36) > now();
      if (!fresh) await renew(res, member, token);
      next();
    },
  };
}
