import type { Metrics, SessionIdHash, UserId } from '../shared/index.ts';
import type { KeyValueStore } from '../store/index.ts';
import type { SessionUser } from './session.ts';
import type { SessionHooks } from './session-hooks.ts';
import { endedByLimitKey } from './session-limit.ts';
import { findUpstreamSessions, type UpstreamNames } from './upstream-sessions.ts';
import {
  batches,
  endSessions,
  findUser,
  listSessionHashes,
  listSessions,
  type SessionEndDeps,
} from './user-sessions.ts';

type EndingHooks = Pick<SessionHooks, 'onSessionsEnded' | 'onAllSessionsEnded'>;

/** The number of a user's open sessions. */
export async function countSessions(kv: KeyValueStore, userId: UserId): Promise<number> {
  return (await listSessions(kv, userId)).length;
}

/** Restricts to sessions of this password epoch or an earlier one. */
export interface EndedBy {
  upToEpoch: number;
}

/**
 * Ends every session of a user with all data that depends on them, including data whose session record is gone. Returns
 * the number of open ones. It needs no browser, so the command line uses it too.
 */
export async function endAllSessions(
  deps: { kv: KeyValueStore; hooks: EndingHooks },
  userId: UserId,
  which?: EndedBy,
): Promise<number> {
  const { kv, hooks } = deps;
  const listed = await listSessionHashes(kv, userId);
  if (!which) {
    const open = await endSessions(deps, userId, listed);
    await hooks.onAllSessionsEnded(userId);
    return open;
  }
  const isLater = ({ passwordEpoch = -1 }: SessionUser) => passwordEpoch > which.upToEpoch;
  let open = 0;
  for (const batch of batches(listed)) {
    const users = await Promise.all(batch.map((idHash) => findUser(kv, idHash)));
    // A sign-in in progress has no record yet. It checks the epoch itself after it has written one.
    const ending = batch.filter((_, index) => users[index] !== undefined && !isLater(users[index]));
    open += await endSessions(deps, userId, ending);
  }
  await hooks.onAllSessionsEnded(userId, async (idHash) => {
    const session = await findUser(kv, idHash);
    return session !== undefined && isLater(session);
  });
  return open;
}

/**
 * Ends one session of a user with all data that depends on it; false if the user has no such session (any more). It
 * needs no browser, so the command line uses it too.
 */
export async function endOneSession(deps: SessionEndDeps, userId: UserId, idHash: SessionIdHash): Promise<boolean> {
  // A user can only end sessions in their own list.
  if (!(await listSessionHashes(deps.kv, userId)).includes(idHash)) return false;
  return (await endSessions(deps, userId, [idHash])) > 0;
}

/** The ways to end sessions from outside their own browser. */
export interface SessionEndings {
  /** Ends every session of a user, or those that a change of the password invalidates. Returns the number. */
  endAll(userId: UserId, which?: EndedBy): Promise<number>;
  /** How many sessions of a user the session limit has ended recently. */
  endedByLimit(userId: UserId): Promise<number>;
  /** Ends one session of a user with all dependent data; false if the user has no such session (any more). */
  endSession(userId: UserId, idHash: SessionIdHash): Promise<boolean>;
  /** Ends all sessions of a user but one. Returns the number. */
  endOtherSessions(userId: UserId, keepIdHash: SessionIdHash): Promise<number>;
  /** Ends the sessions of a user whom a provider has signed out, by the provider's names. Returns the number. */
  endUpstreamSessions(names: UpstreamNames): Promise<number>;
}

interface EndingDeps {
  kv: KeyValueStore;
  hooks: EndingHooks & Pick<SessionHooks, 'onOtherSessionsEnded'>;
  metrics: Metrics;
}

export function createEndings(deps: EndingDeps): SessionEndings {
  const { kv, hooks, metrics } = deps;

  async function endAll(userId: UserId, which?: EndedBy): Promise<number> {
    const count = await endAllSessions(deps, userId, which);
    metrics.sessionEnded('revoked', count);
    return count;
  }

  async function endSession(userId: UserId, idHash: SessionIdHash): Promise<boolean> {
    const ended = await endOneSession(deps, userId, idHash);
    metrics.sessionEnded('revoked', Number(ended));
    return ended;
  }

  async function endOtherSessions(userId: UserId, keepIdHash: SessionIdHash): Promise<number> {
    const others = async () => (await listSessionHashes(kv, userId)).filter((idHash) => idHash !== keepIdHash);
    const first = await endSessions(deps, userId, await others());
    // A session that changed its id at this moment is in the list by now.
    const count = first + (await endSessions(deps, userId, await others()));
    await hooks.onOtherSessionsEnded(userId, keepIdHash);
    metrics.sessionEnded('revoked', count);
    return count;
  }

  const endedByLimit = (userId: UserId) => kv.count(endedByLimitKey(userId));

  async function endUpstreamSessions(names: UpstreamNames): Promise<number> {
    let count = 0;
    for (const { userId, idHash } of await findUpstreamSessions(kv, names)) {
      count += await endSessions(deps, userId, [idHash]);
    }
    metrics.sessionEnded('revoked', count);
    return count;
  }

  return { endAll, endSession, endOtherSessions, endUpstreamSessions, endedByLimit };
}
