import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { z } from 'zod';
import { plainAddress } from '../http/index.ts';
import { type ProviderId, type SessionIdHash, toSessionIdHash, type UserId } from '../shared/index.ts';
import { type KeyValueStore, parseStored } from '../store/index.ts';
import {
  type CurrentSession,
  type Lifetimes,
  type SessionUser,
  sessionFactsKey,
  sessionKey,
  sessionUserSchema,
} from './session.ts';
import type { SessionHooks } from './session-hooks.ts';

/** Facts about a session besides its user: where and since when it is used. Times are milliseconds since the epoch. */
interface SessionFacts {
  userAgent: string;
  ip: string;
  /** The first sign-in in this browser. Re-authentication keeps it. */
  createdAtMs: number;
  lastUsedAtMs: number;
}

const factsSchema: z.ZodType<SessionFacts> = z.looseObject({
  userAgent: z.string(),
  ip: z.string(),
  createdAtMs: z.number(),
  lastUsedAtMs: z.number(),
});
const sessionRecordSchema = z.looseObject({ user: sessionUserSchema.optional() });

/** A browser in which a user is signed in. */
export interface ListedSession extends Omit<SessionFacts, 'userAgent'> {
  idHash: SessionIdHash;
  /** Undefined if the browser sent no User-Agent. */
  userAgent: string | undefined;
  /** Time of the last authentication in this session. */
  authTimeMs: number;
  /** The provider of the sign-in; undefined if there was none. */
  provider: ProviderId | undefined;
}

/** How often the use of a session is recorded at most, per process, so that not every page costs a write. */
const recordUseEveryMs = 60_000;

/** Longer than the User-Agent of any browser. */
const maxAgentCharacters = 512;

/**
 * Marks a session that continues under a new id. Its record is gone, and it stays in the list until the new one is
 * there, so that a sign-out of other devices always finds one of the two.
 */
export const goingOnKey = (idHash: SessionIdHash) => `session-going-on:${idHash}`;
export const goingOnMs = 60_000;

export const userSessionsKey = (userId: UserId) => `sessions-of:${userId}`;

/** The sessions in a member's list; some of them may have ended. */
export const listSessionHashes = async (kv: KeyValueStore, userId: UserId): Promise<SessionIdHash[]> =>
  (await kv.setMembers(userSessionsKey(userId))).map(toSessionIdHash);

/** The origin of a request for the list of devices; without an address if it did not pass through Express. */
export function readClientInfo(req: IncomingMessage & { ip?: string | undefined }): { userAgent: string; ip?: string } {
  const userAgent = (req.headers['user-agent'] ?? '').slice(0, maxAgentCharacters);
  return { userAgent, ...(req.ip !== undefined && { ip: plainAddress(req.ip) }) };
}

export async function readSessionFacts(kv: KeyValueStore, idHash: SessionIdHash): Promise<SessionFacts | undefined> {
  const text = await kv.get(sessionFactsKey(idHash));
  return text === null ? undefined : parseStored(factsSchema, text);
}

/** @param input.ttlMs as long as the session, so that facts do not outlive it */
export async function writeSessionFacts(
  kv: KeyValueStore,
  idHash: SessionIdHash,
  { facts, ttlMs }: { facts: SessionFacts; ttlMs: number },
): Promise<void> {
  await kv.set(sessionFactsKey(idHash), JSON.stringify(facts), ttlMs);
}

/**
 * Writes only if facts still exist, so that a parallel request restores nothing of an ended session.
 * @param input.ttlMs undefined if the session's end does not move
 */
async function recordSessionUse(
  kv: KeyValueStore,
  idHash: SessionIdHash,
  { use, ttlMs }: { use: Partial<SessionFacts>; ttlMs: number | undefined },
): Promise<void> {
  const facts = await readSessionFacts(kv, idHash);
  if (!facts || !(await kv.update(sessionFactsKey(idHash), JSON.stringify({ ...facts, ...use })))) return;
  if (ttlMs !== undefined) await kv.expire(sessionFactsKey(idHash), ttlMs);
}

/** The state of one session: undefined if it has ended, or while the sign-in is in progress. */
async function readSession(kv: KeyValueStore, idHash: SessionIdHash): Promise<ListedSession | undefined> {
  const [user, facts] = await Promise.all([findUser(kv, idHash), readSessionFacts(kv, idHash)]);
  // A list outlives its sessions.
  if (!user) return undefined;
  const { authTimeMs, upstream } = user;
  const provider = upstream?.provider;
  // For a session older than the facts only its start is known.
  const { userAgent = '', ip = '', createdAtMs = authTimeMs, lastUsedAtMs = authTimeMs } = facts ?? {};
  return {
    idHash,
    userAgent: userAgent === '' ? undefined : userAgent,
    ip,
    provider,
    createdAtMs,
    lastUsedAtMs,
    authTimeMs,
  };
}

export async function findUser(kv: KeyValueStore, idHash: SessionIdHash): Promise<SessionUser | undefined> {
  const record = await kv.get(sessionKey(idHash));
  return record === null ? undefined : parseStored(sessionRecordSchema, record).user;
}

/** The open sessions of a user, the most recently used first. */
export async function listSessions(kv: KeyValueStore, userId: UserId): Promise<ListedSession[]> {
  const found: ListedSession[] = [];
  for (const batch of batches(await listSessionHashes(kv, userId))) {
    const read = await Promise.all(batch.map((idHash) => readSession(kv, idHash)));
    found.push(...read.filter((session) => session !== undefined));
  }
  return found.toSorted((a, b) => b.lastUsedAtMs - a.lastUsedAtMs);
}

/** One of them; undefined if the user has no such session (any more). */
export async function findSession(
  kv: KeyValueStore,
  userId: UserId,
  idHash: SessionIdHash,
): Promise<ListedSession | undefined> {
  // A user can only use sessions in their own list.
  return (await listSessionHashes(kv, userId)).includes(idHash) ? readSession(kv, idHash) : undefined;
}

/** The dependencies of every end of a session. */
export interface SessionEndDeps {
  kv: KeyValueStore;
  hooks: Pick<SessionHooks, 'onSessionsEnded'>;
}

/** Sessions that are read or ended in parallel: one user's list must not delay the requests of others. */
const batchSize = 50;

export function* batches<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let from = 0; from < items.length; from += batchSize) yield items.slice(from, from + batchSize);
}

/** Ends these sessions of a user with all dependent data. Returns the number of open ones. */
export async function endSessions(
  deps: SessionEndDeps,
  userId: UserId,
  ids: readonly SessionIdHash[],
): Promise<number> {
  let open = 0;
  for (const batch of batches(ids)) open += await endBatch(deps, userId, batch);
  return open;
}

async function endBatch({ kv, hooks }: SessionEndDeps, userId: UserId, ids: readonly SessionIdHash[]): Promise<number> {
  const sessions = ids.map((idHash) => ({ idHash, userId }));
  // Dependent data ends first: if this process dies, the session still exists, and ending it again ends everything.
  await hooks.onSessionsEnded(sessions);
  // Removes from the list first, then deletes. A sign-in in progress adds its session to the list again after it was
  // saved. In either order the session is deleted here, or is in the list for the next time.
  await Promise.all(ids.map((idHash) => kv.removeFromSet(userSessionsKey(userId), idHash)));
  // Only one of several parallel callers counts as the one that ended the session.
  const taken = await Promise.all(ids.map((idHash) => kv.takeOnce(sessionKey(idHash))));
  await kv.delete(...ids.map(sessionFactsKey));
  // Ends what was given in between. A later grant finds the session gone and removes itself (see `isLive`).
  await hooks.onSessionsEnded(sessions);
  return taken.filter((record) => record !== null).length;
}

/** The last use of each session, for the list of devices. */
export interface SessionUse {
  /** Records a use, at most once a minute. A failed write does not fail: the list of devices is not essential. */
  record(req: Request, session: CurrentSession): Promise<void>;
  /** Marks a session whose facts have just been written. */
  markRecorded(idHash: SessionIdHash, nowMs: number): void;
}

/** How long the facts of a session live. Its own renewal can be about a minute late (`SessionWriteRules`). */
export const factsLifetimeMs = ({ rememberMs, idleMs }: Lifetimes, remember: boolean): number =>
  remember ? rememberMs : idleMs + 2 * recordUseEveryMs;

interface Settings {
  kv: KeyValueStore;
  lifetimes: Lifetimes;
  now: () => number;
}

export function createSessionUse({ kv, lifetimes, now }: Settings): SessionUse {
  const recordedAt = new Map<string, number>();
  return {
    async record(req, { idHash, remember }) {
      const nowMs = now();
      const before = recordedAt.get(idHash);
      if (before !== undefined && Math.abs(nowMs - before) < recordUseEveryMs) return;
      if (recordedAt.size > 10_000) recordedAt.clear();
      recordedAt.set(idHash, nowMs);
      const use = { ...readClientInfo(req), lastUsedAtMs: nowMs };
      // A remembered session ends at a fixed time.
      const ttlMs = remember ? undefined : factsLifetimeMs(lifetimes, remember);
      await recordSessionUse(kv, idHash, { use, ttlMs }).catch(() => recordedAt.delete(idHash));
    },
    markRecorded: (idHash, nowMs) => void recordedAt.set(idHash, nowMs),
  };
}
