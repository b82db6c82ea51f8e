import type { Request } from 'express';
import type { Transaction } from 'kysely';
import type { CancellationTiming, EndOnNotice } from '../../billing/index.ts';
import { getRequestOrigin, translator } from '../../http/index.ts';
import { type byOperator, mailAbout, mailByOperator, type Origin } from '../../messages/index.ts';
import { dayMs, toPublicOutcome, type UserId } from '../../shared/index.ts';
import type { KeyValueStore, Schema } from '../../store/index.ts';
import { findUser, type User } from '../../users/index.ts';
import type { DeletionDeps } from './deletion-deps.ts';
import { cancelDeletion, findDeletion, insertDeletion, recordMembershipEnd } from './deletion-store.ts';

/** Days within which the deletion can be cancelled. */
export const waitDays = 14;

type RequestDeletionResult =
  | { kind: 'asked'; dueAtMs: number }
  /** The user is deleted, or has another password by now. */
  | { kind: 'not-found' };

/**
 * Requests deletion: ends all sessions, notifies by mail, and after {@link waitDays} days all data are erased
 * (delete-due-accounts.ts), unless the user signs in before.
 * @param timing how a paid membership ends
 * @param announcedEndsAt its end on a month's notice that the page has named
 * @param refund its end at once, with what is given back
 */
export async function requestDeletion(
  deps: DeletionDeps,
  user: User,
  {
    timing,
    announcedEndsAt,
    refund,
    from,
  }: {
    timing: CancellationTiming;
    announcedEndsAt?: number | undefined;
    refund?: EndOnNotice | undefined;
    from: Origin | typeof byOperator;
  },
): Promise<RequestDeletionResult> {
  const { database, outbox, sessions, membership, log, now } = deps;
  // Also before: if this process dies right after the commit, almost nothing remains to end.
  await sessions.endAll(user.id);
  const requested = await database.transaction(async (trx): Promise<RequestDeletionResult> => {
    const current = await findUser(trx, user.id);
    if (current?.passwordEpoch !== user.passwordEpoch || current.disabledAt !== null) return { kind: 'not-found' };
    const requestedAt = now();
    const dueAt = requestedAt + waitDays * dayMs;
    if (!(await insertDeletion(trx, { userId: user.id, requestedAt, dueAt }))) {
      // The first of two parallel requests determines date and mail.
      const known = await findDeletion(trx, user.id);
      return known ? { kind: 'asked', dueAtMs: known.dueAt } : { kind: 'not-found' };
    }
    const how = { timing, announcedEndsAt, refund, nowMs: requestedAt };
    const end = await membership.cancelOnDeletion(trx, user.id, how);
    if (end !== null) await recordMembershipEnd(trx, user.id, end);
    await outbox.record(trx, {
      type: 'account.deletion-requested',
      details: {},
      subject: user.id,
      atMs: requestedAt,
    });
    const { mail, values } =
      'operator' in from ? mailByOperator(current, requestedAt) : mailAbout(current, from, requestedAt);
    await outbox.add(trx, {
      ...mail,
      template: 'deletion-asked',
      values: { ...values, atMs: requestedAt, dueAtMs: dueAt },
    });
    return { kind: 'asked', dueAtMs: dueAt };
  });
  outbox.wake();
  // A sign-in in progress is in the list by now, or finds the request and cancels it.
  await sessions.endAll(user.id);
  log.info({ act: 'deletion-asked', outcome: toPublicOutcome(requested.kind) }, 'account deletion requested');
  return requested;
}

/** How long the settings show that the account stays. */
const saidMs = 24 * 60 * 60_000;
const cancelledKey = (userId: UserId) => `deletion-cancelled:${userId}`;

/** The time of a request that a later sign-in cancelled recently (milliseconds since the epoch). */
export async function findRecentCancellation(kv: KeyValueStore, userId: UserId): Promise<number | undefined> {
  const at = await kv.get(cancelledKey(userId));
  return at === null ? undefined : Number(at);
}

/**
 * A sign-in by any method cancels the deletion: a subscriber to `beforeSignIn`.
 * @returns false if it is too late: all data have been erased
 */
export async function cancelPendingDeletion(deps: DeletionDeps, req: Request, user: User): Promise<boolean> {
  const { database, kv, outbox, log } = deps;
  const deletion = await findDeletion(database.db, user.id);
  if (!deletion) return true;
  const cancelled = await database.transaction(async (trx) => {
    if (!(await cancelDeletionsRequestedSince(trx, deps, { userId: user.id, sinceMs: 0 }))) return false;
    const atMs = deps.now();
    await outbox.record(trx, { type: 'account.deletion-cancelled', details: {}, subject: user.id, atMs });
    const { mail, values } = mailAbout(user, getRequestOrigin(req), atMs);
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
  // A parallel sign-in was faster, or the job.
  if (!cancelled) return (await findDeletion(database.db, user.id)) === undefined;
  outbox.wake();
  await kv.set(cancelledKey(user.id), String(deletion.requestedAt), saidMs);
  log.info({ act: 'deletion-cancelled' }, 'account deletion cancelled by a sign-in');
  return true;
}

/**
 * Cancels the deletion, and the membership continues unless it has ended at once. An undo of an address change also
 * cancels requests since the change (`security.md`, rule 14).
 * @returns whether there was anything to cancel
 */
export async function cancelDeletionsRequestedSince(
  trx: Transaction<Schema>,
  { membership, now }: Pick<DeletionDeps, 'membership' | 'now'>,
  { userId, sinceMs }: { userId: UserId; sinceMs: number },
): Promise<boolean> {
  const cancelled = await cancelDeletion(trx, userId, sinceMs);
  if (cancelled?.membership)
    await membership.resumeAfterCancellation(trx, userId, { noted: cancelled.membership, nowMs: now() });
  return cancelled !== undefined;
}
