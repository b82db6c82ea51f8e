import type { Db, Row } from '../../store/index.ts';

/** An event from Stripe, by its id. */
export type NotedEvent = Pick<Row<'stripeEvents'>, 'id' | 'type' | 'customerId'>;

/** Records a received event. @returns its state: `done` is never done again */
export async function recordEvent(
  db: Db,
  { id, type, customerId }: NotedEvent,
  nowMs: number,
): Promise<'new' | 'begun' | 'done'> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('stripeEvents')
    .values({ id, type, customerId, receivedAt: nowMs })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  if ((numInsertedOrUpdatedRows ?? 0n) > 0n) return 'new';
  const row = await db.selectFrom('stripeEvents').select('doneAt').where('id', '=', id).executeTakeFirst();
  return row?.doneAt == null ? 'begun' : 'done';
}

export async function completeEvent(db: Db, id: string, nowMs: number): Promise<void> {
  await db.updateTable('stripeEvents').set({ doneAt: nowMs }).where('id', '=', id).execute();
}

/** Unprocessed events from before this time: the process died, or Stripe was unavailable. */
export async function listUnfinishedEvents(db: Db, beforeMs: number, max: number): Promise<string[]> {
  const rows = await db
    .selectFrom('stripeEvents')
    .select('id')
    .where('doneAt', 'is', null)
    .where('receivedAt', '<=', beforeMs)
    .orderBy('receivedAt')
    .limit(max)
    .execute();
  return rows.map(({ id }) => id);
}

/** Deletes processed events from before this time: Stripe does not send them again. */
export async function sweepEvents(db: Db, beforeMs: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('stripeEvents')
    .where('doneAt', 'is not', null)
    .where('receivedAt', '<=', beforeMs)
    .executeTakeFirst();
  return Number(numDeletedRows);
}
