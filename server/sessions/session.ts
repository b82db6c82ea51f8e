import type { Request } from 'express';
import { z } from 'zod';
import { sessionIdHash } from './embedded-session-store.ts';

/** By which provider a member signed in, and by which name it ends the session (SAML 2.0 Core, section 3.7). */
export interface UpstreamSession {
  /** The configured provider's id. */
  provider: string;
  /** Only where it has a single logout. */
  saml?: {
    nameId: string;
    nameIdFormat: string;
    nameQualifier?: string;
    spNameQualifier?: string;
    sessionIndex?: string;
  };
}

/** The same, read from a store. */
export const upstreamSessionSchema: z.ZodType<UpstreamSession> = z.object({
  provider: z.string(),
  saml: z
    .object({
      nameId: z.string(),
      nameIdFormat: z.string(),
      nameQualifier: z.string().optional(),
      spNameQualifier: z.string().optional(),
      sessionIndex: z.string().optional(),
    })
    .optional(),
});

/** Who signed in, how and when. The only thing that a session holds: everything else has a record of its own. */
export interface SessionUser {
  userId: string;
  /** When the credentials were checked; OpenID Connect's auth_time, in milliseconds. */
  authTimeMs: number;
  /** How (RFC 8176). */
  amr: string[];
  remember: boolean;
  /**
   * When the lifetime of the session began: at the last sign-in in this browser, in milliseconds. A session that only goes on
   * under a new id keeps it. Undefined: the session is older than this field, and `authTimeMs` takes its place.
   */
  startedAtMs?: number;
  /** The member's `passwordEpoch` at the sign-in. Undefined: the session is older than this field. */
  passwordEpoch?: number;
  /** The browser: the same before and after a re-authentication. Undefined: the session is older than this field. */
  browserId?: string;
  /**
   * The second factor was not asked for, because the device is remembered: enough to be signed in, not to change what signs
   * in.
   */
  onRememberedDevice?: boolean;
  /** Undefined: not by a provider. */
  upstream?: UpstreamSession;
}

declare module 'express-session' {
  interface SessionData {
    user?: SessionUser;
  }
}

export interface CurrentSession extends SessionUser {
  /** SHA-256 of the session id: the name by which grants and lists refer to the session. */
  idHash: string;
}

/** The session of this request's browser, whatever may have become of its member. */
export function getCurrentSession(req: Request): CurrentSession | undefined {
  const user = req.session?.user;
  return user && { ...user, idHash: sessionIdHash(req.session.id) };
}
