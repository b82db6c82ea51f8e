import { randomUUID } from 'node:crypto';
import { specialLimits } from '../http/index.ts';
import type { SessionIdHash, UserId } from '../shared/index.ts';
import type { KeyValueStore } from '../store/index.ts';
import {
  batches,
  endSessions,
  findUser,
  goingOnKey,
  listSessionHashes,
  readSessionFacts,
  type SessionEndDeps,
  userSessionsKey,
} from './user-sessions.ts';

/** Maximum number of sessions of a user: one more sign-in ends the session that was unused longest. */
export const maxSessions = specialLimits.session.max;

/** How long the user is notified that sessions ended because of the limit. */
const toldMs = 30 * 24 * 60 * 60_000;

export const endedByLimitKey = (userId: UserId) => `sessions-over-limit:${userId}`;

interface Entry {
  idHash: SessionIdHash;
  lastUsedAtMs: number;
}

const byLastUse = (a: Entry, b: Entry) => b.lastUsedAtMs - a.lastUsedAtMs || (a.idHash < b.idHash ? -1 : 1);

/** Only one request at a time ends a user's sessions: otherwise parallel sign-ins would each end the same ones. */
const limitingKey = (userId: UserId) => `session-limit:${userId}`;
const limitingMs = 30_000;

/**
 * Ends the sessions of a user beyond the limit, with all dependent data. Returns the number of open ones. A sign-in
 * calls it after it has added its session to the list and before it answers. If another request is already doing this,
 * that one finishes the work: it reads the list again after it releases the lock, and sees sessions that were added
 * before.
 */
export async function limitSessions(deps: SessionEndDeps, userId: UserId): Promise<number> {
  const { kv } = deps;
  const [key, own] = [limitingKey(userId), randomUUID()];
  let open = 0;
  let stored: ReadonlySet<SessionIdHash> = new Set();
  for (;;) {
    const listed = await listSessionHashes(kv, userId);
    if (listed.length <= maxSessions || listed.every((idHash) => stored.has(idHash))) break;
    if (!(await kv.setIfAbsent(key, own, limitingMs))) break;
    try {
      const over = await overLimit(kv, userId, listed);
      stored = new Set(listed.filter((idHash) => !over.includes(idHash)));
      open += await endSessions(deps, userId, over);
    } finally {
      await kv.compareAndDelete(key, own);
    }
  }
  if (open > 0) await kv.consumeCount(endedByLimitKey(userId), toldMs, open);
  return open;
}

/** The sessions beyond the limit; removes ended ones from the list. */
async function overLimit(
  kv: KeyValueStore,
  userId: UserId,
  listed: readonly SessionIdHash[],
): Promise<SessionIdHash[]> {
  const entries: Entry[] = [];
  for (const batch of batches(listed)) {
    const read = await Promise.all(batch.map((idHash) => findLastUse(kv, idHash)));
    const ended: SessionIdHash[] = [];
    for (const [index, idHash] of batch.entries()) {
      const lastUsedAtMs = read[index];
      if (lastUsedAtMs === undefined) ended.push(idHash);
      else entries.push({ idHash, lastUsedAtMs });
    }
    await Promise.all(ended.map((idHash) => forget(kv, userId, idHash)));
  }
  const over = entries.toSorted(byLastUse).slice(maxSessions);
  return over.map(({ idHash }) => idHash);
}

async function forget(kv: KeyValueStore, userId: UserId, idHash: SessionIdHash): Promise<void> {
  if ((await kv.get(goingOnKey(idHash))) === null) await kv.removeFromSet(userSessionsKey(userId), idHash);
}

/** Undefined: the session has ended. A sign-in in progress has facts before it has a record. */
async function findLastUse(kv: KeyValueStore, idHash: SessionIdHash): Promise<number | undefined> {
  const [user, facts] = await Promise.all([findUser(kv, idHash), readSessionFacts(kv, idHash)]);
  return facts?.lastUsedAtMs ?? user?.authTimeMs;
}
