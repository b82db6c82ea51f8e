import type { Request, RequestHandler } from 'express';
import { HttpError } from './errors.ts';

/** Who calls a JSON route: a member (by session, or by a token that a client app holds for them) or a client app itself. */
export type Principal =
  | {
      kind: 'member';
      userId: string;
      by: 'session' | 'token';
      /** When the member has shown last who they are (milliseconds since the epoch); undefined: nobody knows. */
      authTimeMs?: number | undefined;
    }
  | { kind: 'client'; clientId: string };

/** What a JSON route asks of its caller. A route that asks nothing is public, and says so. */
export interface Access {
  /** Members, by their session in this browser or by a token with the scope `account`. */
  member?: true;
  /** Also members of whom a provider demands a second factor that they have not set up: it is needed for that. */
  settingUp?: true;
  /** It only reads, as every GET does: open also to members who must first accept new terms. */
  reads?: true;
  /** Client apps, by their own token (client credentials) with this scope. */
  client?: ApiScope;
}

/** What client apps may be given for themselves (RFC 6749, section 4.4). */
export const apiScopes = [
  'clients:read',
  'users:read',
  'users:write',
  'messages:send',
  'plans:read',
  'payments:write',
] as const;
export type ApiScope = (typeof apiScopes)[number];

/** Makes the guard of a route; oauth/ has the one implementation, and `app.ts` hands it to every room. */
export type Guard = (access: Access) => RequestHandler;

const principals = new WeakMap<Request, Principal>();

export function setPrincipal(req: Request, principal: Principal): void {
  principals.set(req, principal);
}

/** Who calls. Only behind a guard. */
export function principalOf(req: Request): Principal {
  const principal = principals.get(req);
  if (!principal) throw new Error('a JSON route stands behind no guard');
  return principal;
}

/**
 * Whose data a call means: a member's own, whatever is named; a client app names the member.
 * @param named what stands in the part `where` of the input
 * @throws {HttpError} 403 for another member's, 400 when a client app names nobody
 */
export function memberMeant(req: Request, named: string | undefined, where: string): string {
  const principal = principalOf(req);
  if (principal.kind === 'member') {
    if (named !== undefined && named !== principal.userId) {
      throw new HttpError('forbidden', { detail: `${where} is another member` });
    }
    return principal.userId;
  }
  if (named === undefined) {
    throw new HttpError('validation', { detail: where, faults: [{ name: where, detail: 'which member is meant' }] });
  }
  return named;
}

/** How old the last authentication may be where something is changed that signs a member in. */
export const recentMs = 10 * 60_000;

/**
 * For calls that change how a member signs in: an open browser, or a token that was given long ago, is not enough.
 * @throws {HttpError} 401 with what is asked for (RFC 9470, section 3)
 */
export function requireRecent(principal: Principal, nowMs: number): void {
  const authTimeMs = principal.kind === 'member' ? principal.authTimeMs : undefined;
  if (authTimeMs !== undefined && nowMs - authTimeMs <= recentMs) return;
  const parameters = [
    'Bearer realm="api"',
    'error="insufficient_user_authentication"',
    'error_description="the member must sign in again"',
    `max_age=${recentMs / 1000}`,
  ];
  throw new HttpError('unauthorized', {
    detail: 'the member signed in too long ago',
    headers: { 'WWW-Authenticate': parameters.join(', ') },
  });
}
