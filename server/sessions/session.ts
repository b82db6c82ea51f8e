import type { Request } from 'express';
import { type ProviderId, type SessionIdHash, toSessionId, type UserId } from '../shared/index.ts';
import { sessionIdHash } from './session-keys.ts';

/** The provider of the sign-in, and the provider's name of the session for its logout (SAML 2.0 Core, section 3.7). */
export interface UpstreamSession {
  provider: ProviderId;
  /** Only for providers with single logout. */
  saml?: {
    nameId: string;
    nameIdFormat: string;
    nameQualifier?: string;
    spNameQualifier?: string;
    sessionIndex?: string;
  };
}

/** The user, and how and when they signed in. A session has nothing else: all other data have records of their own. */
export interface SessionUser {
  userId: UserId;
  /** OpenID Connect's `auth_time`, in milliseconds. */
  authTimeMs: number;
  /** Authentication methods (RFC 8176). */
  amr: string[];
  remember: boolean;
  /**
   * Start of the session's lifetime: the last sign-in in this browser, in milliseconds. A session that continues under
   * a new id keeps it. Undefined: the session is older than this field, and `authTimeMs` applies.
   */
  startedAtMs?: number;
  /** The user's `passwordEpoch` at the sign-in. Undefined: the session is older than this field. */
  passwordEpoch?: number;
  /** The id of the browser: re-authentication keeps it. Undefined: the session is older than this field. */
  browserId?: string;
  /** The second factor was skipped because the device is remembered. Such a session cannot change credentials. */
  onRememberedDevice?: boolean;
  /** Undefined: no provider was used. */
  upstream?: UpstreamSession;
}

declare module 'express-session' {
  interface SessionData {
    user?: SessionUser;
  }
}

export interface CurrentSession extends SessionUser {
  /** SHA-256 of the session id, under which grants and lists refer to the session. */
  idHash: SessionIdHash;
}

/** The session of this request's browser; its user may be disabled or deleted. */
export function getCurrentSession(req: Request): CurrentSession | undefined {
  const user = req.session?.user;
  return user && { ...user, idHash: sessionIdHash(toSessionId(req.session.id)) };
}
