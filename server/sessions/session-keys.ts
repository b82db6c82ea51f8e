import { type SessionId, type SessionIdHash, sha256, toSessionIdHash } from '../shared/index.ts';

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
