import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import type { SessionData } from 'express-session';
import { z } from 'zod';
import type { HostCookies } from '../http/index.ts';
import {
  type ProviderId,
  providerIdSchema,
  type SessionId,
  type SessionIdHash,
  sha256,
  toSessionId,
  toSessionIdHash,
  type UserId,
  userIdSchema,
} from '../shared/index.ts';
import { checkedAs, type KeyValueStore, parseStored } from '../store/index.ts';
import type { User } from '../users/index.ts';

/**
 * The provider of the sign-in, and the provider's names of person and session for a logout (SAML 2.0 Core, section 3.7;
 * OpenID Connect Back-Channel Logout 1.0, section 2.4).
 */
export interface UpstreamSession {
  provider: ProviderId;
  /** Undefined: no OpenID provider, or the session is older than this field. */
  oidc?: {
    issuer: string;
    subject: string;
    /** Undefined: the provider gave none. */
    sid?: string;
  };
  /** Only for providers with single logout. */
  saml?: {
    nameId: string;
    nameIdFormat: string;
    nameQualifier?: string;
    spNameQualifier?: string;
    sessionIndex?: string;
  };
}

/** Schema for reading it from a store. */
export const upstreamSessionSchema: z.ZodType<UpstreamSession> = z.object({
  provider: providerIdSchema,
  oidc: z.object({ issuer: z.string(), subject: z.string(), sid: z.string().optional() }).optional(),
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

/** Optional properties are missing in sessions of earlier releases. */
export const sessionUserSchema: z.ZodType<SessionUser> = z.looseObject({
  userId: userIdSchema,
  authTimeMs: z.number(),
  amr: z.array(z.string()),
  remember: z.boolean(),
  startedAtMs: z.number().optional(),
  passwordEpoch: z.number().optional(),
  browserId: z.string().optional(),
  onRememberedDevice: z.boolean().optional(),
  upstream: upstreamSessionSchema.optional(),
});

declare module 'express-session' {
  interface SessionData {
    user?: SessionUser;
  }
}

export const sessionCookie = 'foyer_session';

/** A session as express-session stores it. */
export const sessionDataSchema = checkedAs<SessionData>(
  z.object({ cookie: z.object({}), user: sessionUserSchema.optional() }),
);

export interface CurrentSession extends SessionUser {
  /** SHA-256 of the session id, under which grants and lists refer to the session. */
  idHash: SessionIdHash;
}

/** Those that were read without express-session. */
const readSessions = new WeakMap<IncomingMessage, CurrentSession>();

/** The session of this request's browser; its user may be disabled or deleted. */
export function getCurrentSession(req: Request): CurrentSession | undefined {
  const user = req.session?.user;
  return user ? { ...user, idHash: sessionIdHash(toSessionId(req.session.id)) } : readSessions.get(req);
}

/** The store's key of a session. The id itself is a bearer secret and is never stored. */
export function sessionIdHash(sessionId: SessionId): SessionIdHash {
  return toSessionIdHash(sha256(sessionId));
}

export function sessionKey(idHash: SessionIdHash): string {
  return `session:${idHash}`;
}

/** The key of the facts beside a session (user-sessions.ts). They are deleted with the session, however it ends. */
export function sessionFactsKey(idHash: SessionIdHash): string {
  return `session-facts:${idHash}`;
}

/**
 * The session of a request whose handler never changes it, as express-session finds it. That library also wraps the
 * answer, and writes the session as JSON three times to learn whether it has changed.
 */
export interface SessionReader {
  /**
   * Afterwards {@link getCurrentSession} answers.
   * @returns false: there is no session of a user, or express-session must look
   * @throws {StoreUnavailable}
   */
  read(req: IncomingMessage): Promise<boolean>;
  /** Before express-session loads the session of the same request. */
  forget(req: IncomingMessage): void;
}

interface ReaderSettings {
  kv: KeyValueStore;
  /** Prolongs a session; it never fails. */
  store: { touch(id: SessionId, session: SessionData): unknown };
  cookies: HostCookies;
  /** The newest first: all verify. */
  cookieKeys: readonly string[];
}

export function createSessionReader({ kv, store, cookies, cookieKeys }: ReaderSettings): SessionReader {
  const keys = cookieKeys.map((key) => createSecretKey(key, 'utf8'));
  // With the spaces that express-session ignores: of two such cookies it may take the other one.
  const pattern = new RegExp(`(?:^|;)[ \\t]*${cookies.name(sessionCookie)}[ \\t]*=([^;]*)`, 'g');

  /** @param signature base64 without padding, as express-session compares it */
  const isSigned = (id: string, signature: string) =>
    keys.some((key) => {
      const expected = Buffer.from(createHmac('sha256', key).update(id).digest('base64').replace(/=+$/, ''));
      const received = Buffer.from(signature);
      return expected.length === received.length && timingSafeEqual(expected, received);
    });

  /** Undefined: there is none, several, or one in another form. */
  function readId({ headers }: IncomingMessage): SessionId | undefined {
    const [found, ...others] = [...(headers.cookie ?? '').matchAll(pattern)];
    if (!found || others.length > 0) return undefined;
    const [, id, signature] = /^s%3A([\w-]+)\.((?:[A-Za-z\d]|%2B|%2F)+)$/.exec(found[1] ?? '') ?? [];
    if (id === undefined || signature === undefined) return undefined;
    return isSigned(id, decodeURIComponent(signature)) ? toSessionId(id) : undefined;
  }

  return {
    async read(req) {
      const id = readId(req);
      if (id === undefined) return false;
      const idHash = sessionIdHash(id);
      const stored = await kv.get(sessionKey(idHash));
      const session = stored === null ? undefined : parseStored(sessionDataSchema, stored);
      if (!session?.user) return false;
      readSessions.set(req, { ...session.user, idHash });
      // It does not fail, and the answer need not wait for it.
      void store.touch(id, session);
      return true;
    },
    forget: (req) => void readSessions.delete(req),
  };
}

export interface Lifetimes {
  /** Idle timeout of a session that is not remembered. */
  idleMs: number;
  /** Maximum lifetime of a session that is not remembered, from the sign-in, however much it is used. */
  maxMs: number;
  /** Lifetime of a remembered session, from the sign-in. */
  rememberMs: number;
}

type Lived = Pick<SessionUser, 'remember' | 'authTimeMs' | 'startedAtMs'>;

/**
 * The latest end of a session, in milliseconds since the epoch. It counts from the sign-in at Foyer: `authTimeMs` of a
 * sign-in with a provider may be days old. NIST SP 800-63B-4 sets 30 days at AAL1 and 24 hours at AAL2.
 */
export function endsAtMs(session: Lived, { maxMs, rememberMs }: Pick<Lifetimes, 'maxMs' | 'rememberMs'>): number {
  return (session.startedAtMs ?? session.authTimeMs) + (session.remember ? rememberMs : maxMs);
}

/**
 * Authentication context classes, the strongest last: the password alone, two factors, a phishing-resistant key (`phr`,
 * OpenID Connect Extended Authentication Profile ACR Values 1.0).
 */
export const acrValues = ['aal1', 'aal2', 'phr'] as const;
export type Acr = (typeof acrValues)[number];

/** Derives the class from the methods of the authentication (RFC 8176). Only a passkey gives `pop`. */
export function toAcr(amr: readonly string[]): Acr {
  if (!amr.includes('mfa')) return 'aal1';
  return amr.includes('pop') ? 'phr' : 'aal2';
}

/** Tests whether an authentication is at least as strong as expected. No authentication satisfies an unknown class. */
export function meetsAcr(acr: Acr, expected: string): boolean {
  const at = (acrValues as readonly string[]).indexOf(expected);
  return at >= 0 && acrValues.indexOf(acr) >= at;
}

/**
 * The time at which a user last presented all factors that they have now (milliseconds since the epoch). Undefined if
 * one is missing: the device was remembered, or the second factor was enabled after the sign-in. Such a session is
 * signed in but cannot change credentials: a thief with a stolen password must not disable the factor that was enabled
 * against them.
 */
export function fullyAuthenticatedAt(
  { mfaPreference }: Pick<User, 'mfaPreference'>,
  { amr, authTimeMs, onRememberedDevice }: Pick<SessionUser, 'amr' | 'onRememberedDevice'> & { authTimeMs?: number },
): number | undefined {
  if (onRememberedDevice) return undefined;
  return mfaPreference === 'none' || amr.includes('mfa') ? authTimeMs : undefined;
}
