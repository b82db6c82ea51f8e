import { randomUUID } from 'node:crypto';
import { specialLimits } from '../rate-limits/index.ts';
import type { KeyValueStore } from '../store/index.ts';
import {
  batches,
  endSessions,
  findUser,
  goingOnKey,
  readSessionFacts,
  type SessionEndListener,
  userSessionsKey,
} from './session-index.ts';

/** A member has at most so many sessions: the sign-in that would be one more ends the one that was used longest ago. */
export const maxSessions = specialLimits.session.max;

/** For how long the member is told that sessions ended because of the limit. */
const toldMs = 30 * 24 * 60 * 60_000;

export const endedByLimitKey = (userId: string) => `sessions-over-limit:${userId}`;

interface Entry {
  idHash: string;
  lastUsedAtMs: number;
}

const byLastUse = (a: Entry, b: Entry) => b.lastUsedAtMs - a.lastUsedAtMs || (a.idHash < b.idHash ? -1 : 1);

/** One request at a time ends a member's sessions: otherwise many sign-ins at once would each end the same ones. */
const limitingKey = (userId: string) => `session-limit:${userId}`;
const limitingMs = 30_000;

/**
 * Ends the sessions of a member beyond the limit, with everything that hangs on them; answers how many were open. A sign-in
 * calls it after it has written its session into the list and before it answers. While another request is at it, this one
 * leaves the rest to that one, which looks at the list again after it has given way: it sees what was added before.
 */
export async function limitSessions(kv: KeyValueStore, links: SessionEndListener, userId: string): Promise<number> {
  const [key, own] = [limitingKey(userId), randomUUID()];
  let open = 0;
  let stored: ReadonlySet<string> = new Set();
  for (;;) {
    const listed = await kv.setMembers(userSessionsKey(userId));
    if (listed.length <= maxSessions || listed.every((idHash) => stored.has(idHash))) break;
    if (!(await kv.setIfAbsent(key, own, limitingMs))) break;
    try {
      const over = await overLimit(kv, userId, listed);
      stored = new Set(listed.filter((idHash) => !over.includes(idHash)));
      open += await endSessions(kv, links, userId, over);
    } finally {
      await kv.compareAndDelete(key, own);
    }
  }
  if (open > 0) await kv.consumeCount(endedByLimitKey(userId), toldMs, open);
  return open;
}

/** Which of these sessions are beyond the limit; those that have ended leave the list. */
async function overLimit(kv: KeyValueStore, userId: string, listed: readonly string[]): Promise<string[]> {
  const entries: Entry[] = [];
  for (const batch of batches(listed)) {
    const read = await Promise.all(batch.map((idHash) => findLastUse(kv, idHash)));
    const ended: string[] = [];
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

async function forget(kv: KeyValueStore, userId: string, idHash: string): Promise<void> {
  if ((await kv.get(goingOnKey(idHash))) === null) await kv.removeFromSet(userSessionsKey(userId), idHash);
}

/** Undefined: the session has ended. A sign-in under way has facts before it has a record. */
async function findLastUse(kv: KeyValueStore, idHash: string): Promise<number | undefined> {
  const [user, facts] = await Promise.all([findUser(kv, idHash), readSessionFacts(kv, idHash)]);
  return facts?.lastUsedAtMs ?? user?.authTimeMs;
}
