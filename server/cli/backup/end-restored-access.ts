import { cancelEveryReset, postponeDeletions, waitDays } from '../../account/index.ts';
import { countTasks } from '../../billing/index.ts';
import { countWaiting } from '../../messages/index.ts';
import { forgetEveryDevice } from '../../mfa/index.ts';
import { endAllSessions } from '../../sessions/index.ts';
import { dayMs } from '../../shared/index.ts';
import { listUsers, type User } from '../../users/index.ts';
import type { Context } from '../context.ts';
import { counted, moment } from '../text.ts';

/** The changes to a restored database, and its open work. Times in milliseconds since the epoch. */
export interface RestoredState {
  /** null: they were kept. */
  ended: { grants: number; remembered: number } | null;
  cancelledResets: number;
  postponedDeletions: number;
  postponedUntil: number;
  waitingMessages: number;
  stripeTasks: number;
}

const pageUsers = 500;

/** Their grants have ended already. */
const noHooks = { onSessionsEnded: async () => {}, onAllSessionsEnded: async () => {} };

/** Ends the sessions of all users, in a key-value store that is not replaced. */
export async function endSessionsOfEveryone({ database, kv }: Context): Promise<void> {
  let after: User | undefined;
  do {
    const users = await listUsers(database.db, { limit: pageUsers, after });
    for (const { id } of users) await endAllSessions({ kv, hooks: noHooks }, id);
    after = users.length < pageUsers ? undefined : users.at(-1);
  } while (after);
}

async function endAccess({ database, grants: store }: Context): Promise<NonNullable<RestoredState['ended']>> {
  const grants = await store.count();
  await store.revokeEveryone();
  return { grants, remembered: await forgetEveryDevice(database.db) };
}

/**
 * Takes back what a restored database would bring back to life. Sessions, grants and remembered devices may have been
 * ended since the backup, because a thief had them. A reset of a second factor, or a deletion, may have been cancelled
 * by the member.
 */
export async function secureRestored(
  context: Context,
  { keepSessions }: { keepSessions: boolean },
): Promise<RestoredState> {
  const { database, now } = context;
  const ended = keepSessions ? null : await endAccess(context);
  const postponedUntil = now() + waitDays * dayMs;
  const [cancelledResets, postponedDeletions] = await database.transaction(async (trx) => [
    await cancelEveryReset(trx, now()),
    await postponeDeletions(trx, postponedUntil),
  ]);
  return {
    ended,
    cancelledResets,
    postponedDeletions,
    postponedUntil,
    waitingMessages: await countWaiting(database.db),
    stripeTasks: await countTasks(database.db),
  };
}

export function describeRestored(state: RestoredState): string[] {
  const { ended, cancelledResets, postponedDeletions, postponedUntil, waitingMessages, stripeTasks } = state;
  const access = ended
    ? `Ended: all sessions, ${counted(ended.grants, 'grant')} to client apps with all tokens, ${counted(ended.remembered, 'remembered device')}.`
    : 'Sessions, grants and remembered devices are as they were: those that ended after the backup live again.';
  const lines = [access];
  if (cancelledResets > 0)
    lines.push(`Canceled: ${counted(cancelledResets, 'waiting reset')} of a second factor. Ask for them again.`);
  if (postponedDeletions > 0)
    lines.push(
      `Postponed until ${moment(postponedUntil)}: ${counted(postponedDeletions, 'requested deletion')}. A member who has canceled since signs in before.`,
    );
  if (waitingMessages + stripeTasks > 0)
    lines.push(
      `Open since before the backup, and done (again) after the start: ${counted(waitingMessages, 'message')}, ${counted(stripeTasks, 'task')} at Stripe.`,
    );
  return lines;
}
