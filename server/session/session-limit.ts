import type { KeyValueStore } from '../store/index.ts';
import { batches, type Ends, endSessions, factsOf, goingOnKey, sessionsOf, userOf } from './session-list.ts';

/** A member has at most so many sessions: the sign-in that would be one more ends the one that was used longest ago. */
export const mostSessions = 50;

/** For how long the member is told that sessions ended because of the limit. */
const toldMs = 30 * 24 * 60 * 60_000;

export const endedByLimitKey = (userId: string) => `sessions-over-limit:${userId}`;

interface Entry {
  idHash: string;
  lastUsedAtMs: number;
}

const byLastUse = (a: Entry, b: Entry) => b.lastUsedAtMs - a.lastUsedAtMs || (a.idHash < b.idHash ? -1 : 1);

/**
 * Ends the sessions of a member beyond the limit, with everything that hangs on them; answers how many were open. A sign-in
 * calls it between writing its session into the list and being answered. All calls order the sessions alike, so parallel
 * sign-ins agree on which ones stay, and the last call sees every session of the others.
 */
export async function limitSessions(kv: KeyValueStore, links: Ends, userId: string): Promise<number> {
  const listed = await kv.setMembers(sessionsOf(userId));
  if (listed.length <= mostSessions) return 0;
  const entries: Entry[] = [];
  for (const batch of batches(listed)) {
    const read = await Promise.all(batch.map((idHash) => lastUseOf(kv, idHash)));
    const ended: string[] = [];
    for (const [index, idHash] of batch.entries()) {
      const lastUsedAtMs = read[index];
      if (lastUsedAtMs === undefined) ended.push(idHash);
      else entries.push({ idHash, lastUsedAtMs });
    }
    await Promise.all(ended.map((idHash) => forget(kv, userId, idHash)));
  }
  const over = entries.toSorted(byLastUse).slice(mostSessions);
  if (over.length === 0) return 0;
  const open = await endSessions(
    kv,
    links,
    userId,
    over.map(({ idHash }) => idHash),
  );
  if (open > 0) await kv.increment(endedByLimitKey(userId), toldMs, open);
  return open;
}

async function forget(kv: KeyValueStore, userId: string, idHash: string): Promise<void> {
  if ((await kv.get(goingOnKey(idHash))) === null) await kv.removeFromSet(sessionsOf(userId), idHash);
}

/** Undefined: the session has ended. A sign-in under way has facts before it has a record. */
async function lastUseOf(kv: KeyValueStore, idHash: string): Promise<number | undefined> {
  const [user, facts] = await Promise.all([userOf(kv, idHash), factsOf(kv, idHash)]);
  return facts?.lastUsedAtMs ?? user?.authTimeMs;
}
