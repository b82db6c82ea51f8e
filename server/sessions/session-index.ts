import type { IncomingMessage } from 'node:http';
import { plainAddress } from '../messages/index.ts';
import { sha256 } from '../shared/index.ts';
import type { KeyValueStore } from '../store/index.ts';
import { sessionFactsKey, sessionKey } from './embedded-session-store.ts';
import type { SessionUser, UpstreamSession } from './session.ts';

/** What is written down of a session beside who it is: where it is used, and since when. Milliseconds since the epoch. */
export interface SessionFacts {
  userAgent: string;
  ip: string;
  /** The first sign-in in this browser: who shows again who they are goes on as the same device. */
  createdAtMs: number;
  lastUsedAtMs: number;
}

/** A browser in which a member is signed in. */
export interface ListedSession extends Omit<SessionFacts, 'userAgent'> {
  idHash: string;
  /** Undefined where the browser said nothing of itself. */
  userAgent: string | undefined;
  /** When the member has last shown there who they are. */
  authTimeMs: number;
  /** The id of the provider by which they came; undefined: by none. */
  provider: string | undefined;
}

/** How often it is written down at most, per process, that a session is used: not every page costs a write. */
export const recordUseEveryMs = 60_000;

/** Longer than any browser's name of itself. */
const maxAgentCharacters = 512;

/** The sessions that a person of a SAML provider has here, by the name that the provider calls them. */
const sessionsOfName = (provider: string, nameId: string) =>
  `sessions-of-name:${sha256(JSON.stringify([provider, nameId]))}`;

/** So that the provider can end it: the name alone says neither whose it is nor which. */
export async function indexUpstreamSession(
  kv: KeyValueStore,
  { userId, idHash, upstream }: { userId: string; idHash: string; upstream?: UpstreamSession | undefined },
  ttlMs: number,
): Promise<void> {
  if (!upstream?.saml) return;
  const key = sessionsOfName(upstream.provider, upstream.saml.nameId);
  for (const member of await kv.setMembers(key)) {
    const [, listed = ''] = member.split(' ');
    // What has run out is taken out by whoever comes next.
    if ((await kv.get(sessionKey(listed))) === null) await kv.removeFromSet(key, member);
  }
  await kv.addToSet(key, `${userId} ${idHash}`, ttlMs);
}

/**
 * The sessions that a provider means.
 * @param indexes what it calls them; empty: all of the person
 */
export async function findUpstreamSessions(
  kv: KeyValueStore,
  provider: string,
  nameId: string,
  indexes: readonly string[],
): Promise<{ userId: string; idHash: string }[]> {
  const members = await kv.setMembers(sessionsOfName(provider, nameId));
  const found: { userId: string; idHash: string }[] = [];
  for (const batch of batches(members)) {
    const meant = batch.map(async (member) => {
      const [userId = '', idHash = ''] = member.split(' ');
      const user = await findUser(kv, idHash);
      const index = user?.upstream?.saml?.sessionIndex;
      const isMeant = indexes.length === 0 || index === undefined || indexes.includes(index);
      return user && isMeant ? [{ userId, idHash }] : [];
    });
    found.push(...(await Promise.all(meant)).flat());
  }
  return found;
}

/**
 * Marks a session that goes on under a new id: its record is gone, and it stays in the list until the new one has taken its
 * place, so that a sign-out of the other devices finds one of the two.
 */
export const goingOnKey = (idHash: string) => `session-going-on:${idHash}`;
export const goingOnMs = 60_000;

export const userSessionsKey = (userId: string) => `sessions-of:${userId}`;

/** Where a request comes from, as it is written down; without its address where it has not come through Express. */
export function readClientInfo(req: IncomingMessage & { ip?: string | undefined }): { userAgent: string; ip?: string } {
  const userAgent = (req.headers['user-agent'] ?? '').slice(0, maxAgentCharacters);
  return { userAgent, ...(req.ip !== undefined && { ip: plainAddress(req.ip) }) };
}

export async function readSessionFacts(kv: KeyValueStore, idHash: string): Promise<SessionFacts | undefined> {
  const text = await kv.get(sessionFactsKey(idHash));
  return text === null ? undefined : (JSON.parse(text) as SessionFacts);
}

/** @param ttlMs as long as the session: facts of a session that has run out are nobody's business any more */
export async function writeSessionFacts(
  kv: KeyValueStore,
  idHash: string,
  facts: SessionFacts,
  ttlMs: number,
): Promise<void> {
  await kv.set(sessionFactsKey(idHash), JSON.stringify(facts), ttlMs);
}

/** Only where there are any still: a request that was under way brings back nothing of an ended session. */
export async function recordSessionUse(
  kv: KeyValueStore,
  idHash: string,
  use: Partial<SessionFacts>,
  /** Undefined where the session's end does not move. */
  ttlMs: number | undefined,
): Promise<void> {
  const facts = await readSessionFacts(kv, idHash);
  if (!facts || !(await kv.update(sessionFactsKey(idHash), JSON.stringify({ ...facts, ...use })))) return;
  if (ttlMs !== undefined) await kv.expire(sessionFactsKey(idHash), ttlMs);
}

/** The state of one session: undefined when it has ended, and of a sign-in under way. */
async function readSession(kv: KeyValueStore, idHash: string): Promise<ListedSession | undefined> {
  const [user, facts] = await Promise.all([findUser(kv, idHash), readSessionFacts(kv, idHash)]);
  // A list outlives the sessions in it.
  if (!user) return undefined;
  const { authTimeMs, upstream } = user;
  const provider = upstream?.provider;
  // Of a session from before there were facts its beginning is known.
  const { userAgent = '', ip = '', createdAtMs = authTimeMs, lastUsedAtMs = authTimeMs } = facts ?? {};
  return {
    ...{ idHash, userAgent: userAgent === '' ? undefined : userAgent, ip, provider },
    ...{ createdAtMs, lastUsedAtMs, authTimeMs },
  };
}

export async function findUser(kv: KeyValueStore, idHash: string): Promise<SessionUser | undefined> {
  const record = await kv.get(sessionKey(idHash));
  return record === null ? undefined : (JSON.parse(record) as { user?: SessionUser }).user;
}

/** The sessions of a member that are open at this moment, the last used first. */
export async function listSessions(kv: KeyValueStore, userId: string): Promise<ListedSession[]> {
  const found: ListedSession[] = [];
  for (const batch of batches(await kv.setMembers(userSessionsKey(userId)))) {
    const read = await Promise.all(batch.map((idHash) => readSession(kv, idHash)));
    found.push(...read.filter((session) => session !== undefined));
  }
  return found.toSorted((a, b) => b.lastUsedAtMs - a.lastUsedAtMs);
}

/** One of them; undefined when the member has no such session (any more). */
export async function findSession(
  kv: KeyValueStore,
  userId: string,
  idHash: string,
): Promise<ListedSession | undefined> {
  // A session that is not in the member's list is not theirs.
  return (await kv.setMembers(userSessionsKey(userId))).includes(idHash) ? readSession(kv, idHash) : undefined;
}

export interface SessionEndListener {
  ended(sessions: readonly { idHash: string; userId: string }[]): Promise<void>;
}

/** So many sessions are read or ended at the same time: one member's must not hold up everybody else's requests. */
const batchSize = 50;

export function* batches<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let from = 0; from < items.length; from += batchSize) yield items.slice(from, from + batchSize);
}

/** Ends these sessions of a member with everything that hangs on them; answers how many were open. */
export async function endSessions(
  kv: KeyValueStore,
  links: SessionEndListener,
  userId: string,
  ids: readonly string[],
): Promise<number> {
  let open = 0;
  for (const batch of batches(ids)) open += await endBatch(kv, links, userId, batch);
  return open;
}

async function endBatch(
  kv: KeyValueStore,
  links: SessionEndListener,
  userId: string,
  ids: readonly string[],
): Promise<number> {
  const sessions = ids.map((idHash) => ({ idHash, userId }));
  // What hangs on them while they are still there: whoever ends them again, should this process die, ends everything.
  await links.ended(sessions);
  // First out of the list, then deleted: a sign-in that is under way puts its session into the list again after it was
  // saved, so whichever comes last, the session is deleted here or stands in the list for the next time.
  await Promise.all(ids.map((idHash) => kv.removeFromSet(userSessionsKey(userId), idHash)));
  // Of many who end it at once, one has ended it.
  const taken = await Promise.all(ids.map((idHash) => kv.takeOnce(sessionKey(idHash))));
  await kv.delete(...ids.map(sessionFactsKey));
  // And what was given meanwhile. Later still, it finds the session gone and takes itself back (see `isLive`).
  await links.ended(sessions);
  return taken.filter((record) => record !== null).length;
}
