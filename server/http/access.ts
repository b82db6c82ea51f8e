import type { Request, RequestHandler } from 'express';

/** Who calls a JSON route: a member (by session, or by a token that a client app holds for them) or a client app itself. */
export type Principal =
  | { kind: 'member'; userId: string; by: 'session' | 'token' }
  | { kind: 'client'; clientId: string };

/** What a JSON route asks of its caller. A route that asks nothing is public, and says so. */
export interface Access {
  /** Members, by their session in this browser or by a token with the scope `account`. */
  member?: true;
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
