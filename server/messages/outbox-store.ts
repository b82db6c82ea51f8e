import { sql, type Transaction } from 'kysely';
import { dayMs, type MessageChannel, minuteMs } from '../shared/index.ts';
import type { Db, NewRow, Row, Schema } from '../store/index.ts';

export type OutboxState = Row<'outbox'>['state'];
export const outboxStates: readonly OutboxState[] = ['waiting', 'delivered', 'dead'];

/** Written out: SQLite uses a partial index only if the statement contains its condition. */
const waiting = sql.lit<OutboxState>('waiting');
const isDecoy = sql.lit(1);

/** A message that is due. */
export type DueMessage = Pick<
  Row<'outbox'>,
  'id' | 'template' | 'sealedPayload' | 'groupId' | 'attempts' | 'createdAt' | 'expiresAt' | 'decoy'
>;

/** The listing shows recent deliveries. */
const deliveredKeptMs = 7 * dayMs;
/** An operator can repair the cause and retry dead letters for this long. */
const deadPayloadKeptMs = 14 * dayMs;
const deadKeptMs = 30 * dayMs;

/** After the waiting ones of its group. Two parallel transactions have no order, and may take the same position. */
async function nextPosition(trx: Transaction<Schema>, groupId: string): Promise<number> {
  const { last } = await trx
    .selectFrom('outbox')
    .select(({ fn }) => fn.max('groupPosition').as('last'))
    .where('groupId', '=', groupId)
    .where('state', '=', waiting)
    .executeTakeFirstOrThrow();
  return (last ?? 0) + 1;
}

/**
 * Adds a message as the last of its group.
 * @param message.nextAttemptAt not delivered before this time
 */
export async function insertMessage(
  trx: Transaction<Schema>,
  message: Pick<
    NewRow<'outbox'>,
    'id' | 'channel' | 'template' | 'recipient' | 'sealedPayload' | 'expiresAt' | 'nextAttemptAt' | 'decoy'
  > & { groupId: string | null },
  nowMs: number,
): Promise<void> {
  const groupPosition = message.groupId === null ? 0 : await nextPosition(trx, message.groupId);
  await trx
    .insertInto('outbox')
    .values({ ...message, groupPosition, state: 'waiting', attempts: 0, createdAt: nowMs })
    .execute();
}

/** The id of the message with this deduplication id: `id` itself, unless another was written within `forMs`. */
export async function findDuplicate(
  trx: Transaction<Schema>,
  { id, deduplicationId, forMs }: { id: string; deduplicationId: string; forMs: number },
  nowMs: number,
): Promise<string> {
  const row = { id: deduplicationId, messageId: id, expiresAt: nowMs + forMs };
  // One statement decides, in both databases.
  await trx
    .insertInto('outboxDeduplication')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet({ messageId: id, expiresAt: row.expiresAt })
        .where('outboxDeduplication.expiresAt', '<=', nowMs),
    )
    .execute();
  const { messageId } = await trx
    .selectFrom('outboxDeduplication')
    .select('messageId')
    .where('id', '=', deduplicationId)
    .executeTakeFirstOrThrow();
  return messageId;
}

/** The oldest of each group and all without a group, as far as they are due; longest due first. */
export function dueMessages(
  db: Db,
  { channel, nowMs, limit, except }: { channel: MessageChannel; nowMs: number; limit: number; except: string[] },
): Promise<DueMessage[]> {
  return db
    .selectFrom('outbox')
    .select(['id', 'template', 'sealedPayload', 'groupId', 'attempts', 'createdAt', 'expiresAt', 'decoy'])
    .where('state', '=', waiting)
    .where('channel', '=', channel)
    .where('nextAttemptAt', '<=', nowMs)
    .$if(except.length > 0, (query) => query.where('id', 'not in', except))
    .where((outer) =>
      outer.or([
        outer('groupId', 'is', null),
        outer.not(
          outer.exists(
            outer
              .selectFrom('outbox as earlier')
              .select('earlier.id')
              .whereRef('earlier.groupId', '=', 'outbox.groupId')
              .where('earlier.state', '=', waiting)
              .where(sql<boolean>`(earlier.group_position, earlier.id) < (outbox.group_position, outbox.id)`),
          ),
        ),
      ]),
    )
    .orderBy('nextAttemptAt')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/**
 * Counts an attempt before it is made, so that a message that crashes the process is given up some day too.
 * @param nextAttemptAt time of the retry if this process dies meanwhile
 * @returns false if another process was faster
 */
export async function beginAttempt(db: Db, { id, attempts }: DueMessage, nextAttemptAt: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('outbox')
    .set({ attempts: attempts + 1, nextAttemptAt })
    .where('id', '=', id)
    .where('state', '=', 'waiting')
    .where('attempts', '=', attempts)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function markDelivered(db: Db, id: string, nowMs: number): Promise<void> {
  await db
    .updateTable('outbox')
    .set({ state: 'delivered', sealedPayload: null, lastError: null, finishedAt: nowMs })
    .where('id', '=', id)
    .where('state', '=', 'waiting')
    .execute();
}

export async function markFailed(
  db: Db,
  id: string,
  { reason, nextAttemptAt }: { reason: string; nextAttemptAt: number },
): Promise<void> {
  await db
    .updateTable('outbox')
    .set({ lastError: reason, nextAttemptAt })
    .where('id', '=', id)
    .where('state', '=', 'waiting')
    .execute();
}

/** @param wipe if a retry would be useless */
export async function markDead(
  db: Db,
  id: string,
  { reason, nowMs, wipe }: { reason: string; nowMs: number; wipe: boolean },
): Promise<void> {
  await db
    .updateTable('outbox')
    .set({ state: 'dead', lastError: reason, finishedAt: nowMs, ...(wipe && { sealedPayload: null }) })
    .where('id', '=', id)
    .where('state', '=', 'waiting')
    .execute();
}

/** Deletes expired data: payloads of old dead letters, finished rows, deduplication ids. */
export async function sweepOutbox(db: Db, nowMs: number): Promise<void> {
  await db
    .updateTable('outbox')
    .set({ sealedPayload: null })
    .where('state', '=', 'dead')
    .where('finishedAt', '<=', nowMs - deadPayloadKeptMs)
    .where('sealedPayload', 'is not', null)
    .execute();
  for (const [state, keptMs] of [
    ['delivered', deliveredKeptMs],
    ['dead', deadKeptMs],
  ] as const) {
    await db
      .deleteFrom('outbox')
      .where('state', '=', state)
      .where('finishedAt', '<=', nowMs - keptMs)
      .execute();
  }
  await db.deleteFrom('outbox').where('decoy', '=', isDecoy).where('finishedAt', 'is not', null).execute();
  await db.deleteFrom('outboxDeduplication').where('expiresAt', '<=', nowMs).execute();
}

/**
 * The number of waiting messages without decoys, and the time of the oldest (milliseconds since the epoch; null if none
 * waits).
 */
export async function countQueued(db: Db): Promise<{ count: number; since: number | null }> {
  const { count, since } = await db
    .selectFrom('outbox')
    .select(({ fn }) => [fn.countAll<number>().as('count'), fn.min('createdAt').as('since')])
    .where('state', '=', waiting)
    .where('decoy', '=', 0)
    .executeTakeFirstOrThrow();
  return { count: Number(count), since };
}

/** A message that has waited for longer is late. */
const lateMs = 15 * minuteMs;

/** The number of messages that wait for their delivery, without decoys. */
export async function countWaiting(db: Db): Promise<number> {
  const { messages } = await db
    .selectFrom('outbox')
    .select(({ fn }) => fn.countAll().as('messages'))
    .where('decoy', '=', 0)
    .where('state', '=', waiting)
    .executeTakeFirstOrThrow();
  return Number(messages);
}

/** Dead letters of the last day, and late messages; none of a later time, no decoys. Times in milliseconds. */
export async function readBacklog(
  db: Db,
  nowMs: number,
): Promise<{ dead: number; late: number; oldestAt: number | null }> {
  const ofMembers = db.selectFrom('outbox').where('decoy', '=', 0);
  const { dead } = await ofMembers
    .select(({ fn }) => fn.countAll<number>().as('dead'))
    .where('state', '=', 'dead')
    .where('finishedAt', '>', nowMs - dayMs)
    .executeTakeFirstOrThrow();
  const { late, oldestAt } = await ofMembers
    .select(({ fn }) => [fn.countAll<number>().as('late'), fn.min('createdAt').as('oldestAt')])
    .where('state', '=', waiting)
    .where('createdAt', '<=', nowMs - lateMs)
    .where(({ eb, or }) => or([eb('attempts', '>', 0), eb('nextAttemptAt', '<=', nowMs - lateMs)]))
    .executeTakeFirstOrThrow();
  return { dead: Number(dead), late: Number(late), oldestAt };
}

export type ListedMessage = Omit<Row<'outbox'>, 'sealedPayload' | 'groupPosition' | 'decoy'> & { retriable: boolean };

/** The newest first, without their content and without decoys. */
export async function listMessages(
  db: Db,
  { state, limit }: { state?: OutboxState | undefined; limit: number },
): Promise<ListedMessage[]> {
  const rows = await db
    .selectFrom('outbox')
    .selectAll()
    .where('decoy', '=', 0)
    .$if(state !== undefined, (query) => query.where('state', '=', state as OutboxState))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ sealedPayload, groupPosition: _, decoy: __, ...row }) => ({
    ...row,
    retriable: row.state === 'dead' && sealedPayload !== null,
  }));
}

/**
 * Retries dead letters, with all attempts before them.
 * @param id undefined: all that still have a payload
 * @returns the number
 */
export async function retryFailed(db: Db, id: string | undefined, nowMs: number): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('outbox')
    .set({ state: 'waiting', attempts: 0, nextAttemptAt: nowMs, finishedAt: null })
    .where('state', '=', 'dead')
    .where('sealedPayload', 'is not', null)
    .$if(id !== undefined, (query) => query.where('id', '=', id as string))
    .executeTakeFirst();
  return Number(numUpdatedRows);
}
