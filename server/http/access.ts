import type { Request, RequestHandler } from 'express';
import { HttpError } from './errors.ts';

/** The caller of a JSON route: a member (by session, or by a token that a client app holds for them) or a client app itself. */
export type ApiPrincipal =
  | { kind: 'member'; userId: string; by: 'session'; authTimeMs?: number | undefined }
  | {
      kind: 'member';
      userId: string;
      by: 'token';
      /** Of the token; `account` also where the token names it by its alias. */
      scopes: readonly string[];
      /** When the member last authenticated with every factor that they have (milliseconds since the epoch). */
      authTimeMs?: number | undefined;
    }
  | {
      kind: 'client';
      clientId: string;
      scopes: readonly string[];
      /** How often it may make each call, where an operator has said so. */
      callsPerMinute?: number | undefined;
    };

/** The rule that a JSON route has for its caller. A route that asks nothing is `'public'` and says so. */
export interface ApiAccess {
  /** Members: by their session in this browser, or by a token with this scope. */
  member?: MemberApiScope;
  /**
   * Members authenticated within the last ten minutes, with the second factor if they have one. `with-second-factor`: only
   * members who have one; for others the call itself asks for the password.
   */
  recent?: true | 'with-second-factor';
  /** Also members of whom a provider demands a second factor that they have not set up: it is needed for that. */
  settingUp?: true;
  /** It only reads, as every GET does: open also to members who must first accept new terms. */
  reads?: true;
  /** Client apps, by their own token (client credentials) with this scope. */
  client?: ApiScope;
}

/** The access that a member's token gives: the record and the profile, the credentials, the saved card. */
export const memberApiScopes = ['account', 'account:security', 'account:payments'] as const;
export type MemberApiScope = (typeof memberApiScopes)[number];

/** What client apps may be given for themselves (RFC 6749, section 4.4). */
export const apiScopes = [
  'clients:read',
  'users:read',
  'users:write',
  'messages:send',
  'plans:read',
  'payments:write',
  'visitors:act-for',
] as const;
export type ApiScope = (typeof apiScopes)[number];

/** Makes the guard of a route; oauth/ has the one implementation, and `app.ts` hands it to every room. */
export type Guard = (access: ApiAccess) => RequestHandler;

const principals = new WeakMap<Request, ApiPrincipal>();

export function setPrincipal(req: Request, principal: ApiPrincipal): void {
  principals.set(req, principal);
}

/** Who calls. Only behind a guard. */
export function requirePrincipal(req: Request): ApiPrincipal {
  const principal = principals.get(req);
  if (!principal) throw new Error('a JSON route stands behind no guard');
  return principal;
}

/**
 * Whose data a call means: a member's own, whatever is named; a client app names the member.
 * @param named what stands in the part `where` of the input
 * @throws {HttpError} 403 for another member's, 400 when a client app names nobody
 */
export function resolveRequestedUser(req: Request, named: string | undefined, where: string): string {
  const principal = requirePrincipal(req);
  if (principal.kind === 'member') {
    if (named !== undefined && named !== principal.userId) {
      throw new HttpError('forbidden', { detail: `${where} is another member` });
    }
    return principal.userId;
  }
  if (named === undefined) {
    throw new HttpError('validation', {
      detail: where,
      invalidParams: [{ name: where, detail: 'which member is meant' }],
    });
  }
  return named;
}

/** Whether a caller satisfies a rule, as far as scopes and the kind of caller decide it. */
export function permits(access: ApiAccess | 'public', principal: ApiPrincipal): boolean {
  if (access === 'public') return true;
  if (principal.kind === 'client') return access.client !== undefined && principal.scopes.includes(access.client);
  if (access.member === undefined) return false;
  return principal.by === 'session' || principal.scopes.includes(access.member);
}

/** How old the last authentication may be where something is changed that signs a member in. */
export const recentAuthMs = 10 * 60_000;

/** Whether an authentication of this moment is recent enough. */
export const isRecentAt = (authTimeMs: number | undefined, nowMs: number): boolean =>
  authTimeMs !== undefined && nowMs - authTimeMs <= recentAuthMs;
