import type { Transaction } from 'kysely';
import type { UserId } from '../../shared/index.ts';
import type { Db, Schema } from '../../store/index.ts';

/** Tests whether {@link recordNotification} has recorded it. */
export async function wasNotified(db: Db, userId: UserId, about: string): Promise<boolean> {
  const row = await db
    .selectFrom('toldMembers')
    .select('about')
    .where('userId', '=', userId)
    .where('about', '=', about)
    .executeTakeFirst();
  return row !== undefined;
}

/** Tests whether this is the first notification: it is recorded in the transaction of the message. */
export async function recordNotification(
  trx: Transaction<Schema>,
  { userId, about }: { userId: UserId; about: string },
  nowMs: number,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('toldMembers')
    .values({ userId, about, toldAt: nowMs })
    .onConflict((conflict) => conflict.columns(['userId', 'about']).doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}
