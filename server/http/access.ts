import type { Request, RequestHandler } from 'express';
import { type ClientId, toUserId, type UserId } from '../shared/index.ts';
import { HttpError } from './errors.ts';

/** The refusal of changes that a user gets who may read: set by the guard of a call that only reads. */
type ChangesRefused = HttpError | undefined;

/**
 * The caller of a JSON route: a user (with a session, or with a token that a client app holds) or a client app itself.
 */
export type ApiPrincipal =
  | {
      kind: 'member';
      userId: UserId;
      by: 'session';
      authTimeMs?: number | undefined;
      changesRefused?: ChangesRefused;
    }
  | {
      kind: 'member';
      userId: UserId;
      by: 'token';
      /** Scopes of the token; `account` also when the token names it by its alias. */
      scopes: readonly string[];
      /** Time of the last authentication with all factors of the user (milliseconds since the epoch). */
      authTimeMs?: number | undefined;
      changesRefused?: ChangesRefused;
    }
  | {
      kind: 'client';
      clientId: ClientId;
      scopes: readonly string[];
      /** Limit of each call per minute, if an operator has set one. */
      callsPerMinute?: number | undefined;
      /** The same for single calls, by their id. */
      callsPerMinuteByCall?: Readonly<Partial<Record<string, number>>> | undefined;
    };

/** The access rule of a JSON route. A route without authentication is `'public'`. */
export interface ApiAccess {
  /** Users, with their session in this browser or with a token that has this scope. */
  member?: MemberApiScope;
  /**
   * Users who authenticated within the last ten minutes, with the second factor if they have one. `with-second-factor`:
   * only for users who have one; for others the call itself requires the password.
   */
  recent?: true | 'with-second-factor';
  /** Also users who must still set up the second factor that a provider requires. */
  settingUp?: true;
  /** The call only reads, like every GET: users who must first accept new terms can also call it. */
  reads?: true;
  /** Client apps, with their own token (client credentials) that has this scope. */
  client?: ApiScope;
  /** Another scope that opens the call to them as well: the fields of GraphQL have rules of their own. */
  otherClient?: ApiScope;
}

/** Access of a user's token: the record and the profile, the credentials, the saved card. */
export const memberApiScopes = ['account', 'account:security', 'account:payments'] as const;
export type MemberApiScope = (typeof memberApiScopes)[number];

/** Scopes that client apps can have for themselves (RFC 6749, section 4.4). */
export const apiScopes = [
  'clients:read',
  'users:read',
  'users:write',
  'messages:send',
  'messages:read',
  'plans:read',
  'payments:write',
  'visitors:act-for',
] as const;
export type ApiScope = (typeof apiScopes)[number];

/** Makes the guard of a route. `wiring.ts` passes the implementation of oidc/ to every module. */
export type Guard = (access: ApiAccess) => RequestHandler;

const principals = new WeakMap<object, ApiPrincipal>();

export function setPrincipal(req: Request, principal: ApiPrincipal): void {
  principals.set(req, principal);
}

/** The authenticated caller of a JSON call; undefined elsewhere. */
export const findPrincipal = (req: object): ApiPrincipal | undefined => principals.get(req);

/** The authenticated caller. Only behind a guard. */
export function requirePrincipal(req: Request): ApiPrincipal {
  const principal = principals.get(req);
  if (!principal) throw new Error('a JSON route stands behind no guard');
  return principal;
}

/**
 * The user whose data a call reads or changes: a user always means itself; a client app names the user.
 * @param named the value from the part `where` of the input
 * @throws {HttpError} otherMember for another user's data, 400 if a client app names no user
 */
export function resolveRequestedUser(req: Request, named: string | undefined, where: string): UserId {
  const principal = requirePrincipal(req);
  if (principal.kind === 'member') {
    if (named !== undefined && named !== principal.userId) {
      throw new HttpError('otherMember', {
        detail: `${where} is another user`,
        invalidParams: [{ name: where, detail: 'is another member' }],
      });
    }
    return principal.userId;
  }
  if (named === undefined) {
    throw new HttpError('validation', {
      detail: where,
      invalidParams: [{ name: where, detail: 'which member is meant' }],
    });
  }
  return toUserId(named);
}

/** Tests a caller against the scopes and the kinds of caller of a rule. */
export function permits(access: ApiAccess | 'public', principal: ApiPrincipal): boolean {
  if (access === 'public') return true;
  if (principal.kind === 'client')
    return [access.client, access.otherClient].some((scope) => scope !== undefined && principal.scopes.includes(scope));
  if (access.member === undefined) return false;
  return principal.by === 'session' || principal.scopes.includes(access.member);
}

/** Maximum age of the last authentication for changes of credentials. */
export const recentAuthMs = 10 * 60_000;

/** Tests whether an authentication is recent enough now. */
export const isRecentAt = (authTimeMs: number | undefined, nowMs: number): boolean =>
  authTimeMs !== undefined && nowMs - authTimeMs <= recentAuthMs;
