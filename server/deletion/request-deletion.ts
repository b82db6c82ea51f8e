import type { Transaction } from 'kysely';
import { translator } from '../http/index.ts';
import { mailAbout, type Origin } from '../messages/index.ts';
import { dayMs, type UserId } from '../shared/index.ts';
import type { KeyValueStore, Schema } from '../store/index.ts';
import { findUser, type User } from '../users/index.ts';
import { cancelDeletion, findDeletion, insertDeletion, recordMembershipEnd } from './deletion-store.ts';
import type { CancellationTiming, DeletionDeps } from './deps.ts';

/** Within which a member who leaves can still stay. */
export const waitDays = 14;

export type RequestDeletionResult =
  | { kind: 'asked'; dueAtMs: number }
  /** The member is gone, or signs in with another password by now. */
  | { kind: 'gone' };

/**
 * The member wants to leave: they are signed out everywhere and told by mail, and after {@link waitDays} days everything that
 * is stored of them is erased (erase-due-accounts.ts), unless they sign in before.
 * @param timing how a paid membership ends
 */
export async function requestDeletion(
  deps: DeletionDeps,
  user: User,
  from: Origin,
  timing: CancellationTiming,
): Promise<RequestDeletionResult> {
  const { database, outbox, sessions, membership, log, now } = deps;
  // Before as well: should this process die right after the commit, next to nothing is left to end.
  await sessions.endAll(user.id);
  const requested = await database.transaction(async (trx): Promise<RequestDeletionResult> => {
    const current = await findUser(trx, user.id);
    if (current?.passwordEpoch !== user.passwordEpoch || current.disabledAt !== null) return { kind: 'gone' };
    const requestedAt = now();
    const dueAt = requestedAt + waitDays * dayMs;
    if (!(await insertDeletion(trx, { userId: user.id, requestedAt, dueAt }))) {
      // Asked twice at once: the first one's date stands, and its mail.
      const known = await findDeletion(trx, user.id);
      return known ? { kind: 'asked', dueAtMs: known.dueAt } : { kind: 'gone' };
    }
    const end = await membership.cancelOnDeletion(trx, user.id, timing, requestedAt);
    if (end !== null) await recordMembershipEnd(trx, user.id, end);
    const { mail, values } = mailAbout(current, from, deps.now());
    await outbox.add(trx, {
      ...mail,
      template: 'deletion-asked',
      values: { ...values, atMs: requestedAt, dueAtMs: dueAt },
    });
    return { kind: 'asked', dueAtMs: dueAt };
  });
  outbox.wake();
  // A sign-in that was under way stands in the list by now, or finds the wish and cancels it.
  await sessions.endAll(user.id);
  log.info({ act: 'deletion-asked', outcome: requested.kind }, 'a member wants to leave');
  return requested;
}

/** How long the settings say that the account stays. */
const saidMs = 24 * 60 * 60_000;
const cancelledKey = (userId: UserId) => `deletion-cancelled:${userId}`;

/** When the member had asked to leave, if they have signed in since and stay (milliseconds since the epoch). */
export async function findRecentCancellation(kv: KeyValueStore, userId: UserId): Promise<number | undefined> {
  const at = await kv.get(cancelledKey(userId));
  return at === null ? undefined : Number(at);
}

/**
 * Whoever signs in stays. Every way of signing in passes here (session/).
 * @returns false when it is too late: everything of the member has been erased
 */
export async function cancelDeletionOnSignIn(deps: DeletionDeps, user: User, from: Origin): Promise<boolean> {
  const { database, kv, outbox, log } = deps;
  const deletion = await findDeletion(database.db, user.id);
  if (!deletion) return true;
  const cancelled = await database.transaction(async (trx) => {
    if (!(await cancelDeletionsRequestedSince(deps, trx, user.id, 0))) return false;
    const { mail, values } = mailAbout(user, from, deps.now());
    await outbox.add(trx, { ...mail, template: 'deletion-cancelled', values });
    const t = translator(mail.lang);
    await outbox.add(trx, {
      channel: 'notification',
      userId: user.id,
      title: t('leaving.cancelled.title'),
      description: t('leaving.cancelled.notification'),
      category: 'account',
      security: true,
    });
    return true;
  });
  // Another sign-in was quicker, or the sweep.
  if (!cancelled) return (await findDeletion(database.db, user.id)) === undefined;
  outbox.wake();
  await kv.set(cancelledKey(user.id), String(deletion.requestedAt), saidMs);
  log.info({ act: 'deletion-cancelled' }, 'a member who wanted to leave has signed in');
  return true;
}

/**
 * The member stays, and their membership goes on, where it has not ended at once. Whoever undoes a change of their address
 * wants nothing of what was asked for since (`security.md`, rule 14).
 * @returns whether there was anything to cancel
 */
export async function cancelDeletionsRequestedSince(
  { membership, now }: Pick<DeletionDeps, 'membership' | 'now'>,
  trx: Transaction<Schema>,
  userId: UserId,
  sinceMs: number,
): Promise<boolean> {
  const cancelled = await cancelDeletion(trx, userId, sinceMs);
  if (cancelled?.membership) await membership.resumeAfterCancellation(trx, userId, cancelled.membership, now());
  return cancelled !== undefined;
}
