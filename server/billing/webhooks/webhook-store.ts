import type { StripeCustomerId } from '../../shared/index.ts';
import type { Db } from '../../store/index.ts';

/** An event from Stripe, by its id. */
export interface NotedEvent {
  id: string;
  type: string;
  /** null: it has no customer. */
  customerId: StripeCustomerId | null;
}

/** Records a received event. @returns its state: `done` is never done again */
export async function recordEvent(
  db: Db,
  { id, type, customerId }: NotedEvent,
  nowMs: number,
): Promise<'new' | 'begun' | 'done'> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('stripe_events')
    .values({ id, type, customer_id: customerId, received_at: nowMs, done_at: null })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  if ((numInsertedOrUpdatedRows ?? 0n) > 0n) return 'new';
  const row = await db.selectFrom('stripe_events').select('done_at').where('id', '=', id).executeTakeFirst();
  return row?.done_at == null ? 'begun' : 'done';
}

export async function completeEvent(db: Db, id: string, nowMs: number): Promise<void> {
  await db.updateTable('stripe_events').set({ done_at: nowMs }).where('id', '=', id).execute();
}

/** Unprocessed events from before this time: the process died, or Stripe was unavailable. */
export async function listUnfinishedEvents(db: Db, beforeMs: number, max: number): Promise<string[]> {
  const rows = await db
    .selectFrom('stripe_events')
    .select('id')
    .where('done_at', 'is', null)
    .where('received_at', '<=', beforeMs)
    .orderBy('received_at')
    .limit(max)
    .execute();
  return rows.map(({ id }) => id);
}

/** Deletes processed events from before this time: Stripe does not send them again. */
export async function sweepEvents(db: Db, beforeMs: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('stripe_events')
    .where('done_at', 'is not', null)
    .where('received_at', '<=', beforeMs)
    .executeTakeFirst();
  return Number(numDeletedRows);
}
