import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { HostCookies } from '../http/index.ts';
import { type SessionId, toSessionId } from '../shared/index.ts';
import { type KeyValueStore, parseStored } from '../store/index.ts';
import { forgetSession, rememberSession, sessionDataSchema, sessionIdHash, sessionKey } from './session.ts';
import { type createSessionStore, sessionCookie } from './session-stores.ts';

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

interface Settings {
  kv: KeyValueStore;
  store: Pick<ReturnType<typeof createSessionStore>, 'touch'>;
  cookies: HostCookies;
  /** The newest first: all verify. */
  cookieKeys: readonly string[];
}

export function createSessionReader({ kv, store, cookies, cookieKeys }: Settings): SessionReader {
  const keys = cookieKeys.map((key) => createSecretKey(key, 'utf8'));
  const pattern = new RegExp(`(?:^|;) *${cookies.name(sessionCookie)}=([^;]*)`, 'g');

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
      rememberSession(req, { ...session.user, idHash });
      // It does not fail, and the answer need not wait for it.
      void store.touch(id, session);
      return true;
    },
    forget: forgetSession,
  };
}
