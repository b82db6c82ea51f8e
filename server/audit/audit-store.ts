import type { InsertResult } from 'kysely';
import type { UserId } from '../shared/index.ts';
import { type Db, parseStored, prepareOnce, type Row } from '../store/index.ts';
import type { ChainPoint } from './chain.ts';
import { bodySchema, type EventType, type ListedEvent, personSchema } from './events.ts';

type QueuedRow = Row<'auditQueue'>;
export type SealedRow = Row<'auditEvents'>;
export type MarkRow = Row<'auditMarks'>;
/** `head`: the newest sealed event; `start`: the newest event that retention has deleted. */
export type MarkName = MarkRow['name'];

const insert = prepareOnce<QueuedRow, InsertResult>((db, v) =>
  db.insertInto('auditQueue').values({
    id: v.id,
    at: v.at,
    type: v.type,
    userId: v.userId,
    body: v.body,
    person: v.person,
    salt: v.salt,
  }),
);

/** One row without an index besides its key: the sealer writes the others, outside of the request. */
export async function insertEntry(db: Db, row: QueuedRow): Promise<void> {
  await insert(db, row);
}

export async function hasQueued(db: Db): Promise<boolean> {
  return (await db.selectFrom('auditQueue').select('id').limit(1).executeTakeFirst()) !== undefined;
}

/**
 * Takes the oldest events out of the queue. One statement: a row that is being erased is returned as it is afterwards.
 */
export async function takeQueued(trx: Db, limit: number): Promise<QueuedRow[]> {
  const rows = await trx
    .deleteFrom('auditQueue')
    .where('id', 'in', (from) => from.selectFrom('auditQueue').select('id').orderBy('id').limit(limit))
    .returningAll()
    .execute();
  return rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** The marks exist from the first sealing on. */
export async function insertMark(db: Db, mark: MarkRow): Promise<void> {
  await db
    .insertInto('auditMarks')
    .values(mark)
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
}

export async function findMark(db: Db, name: MarkName): Promise<MarkRow | undefined> {
  return db.selectFrom('auditMarks').selectAll().where('name', '=', name).executeTakeFirst();
}

/**
 * Locks a mark until the end of the transaction, on both databases, and reads it as the last holder left it: a second
 * sealer waits here.
 */
export async function lockMark(trx: Db, name: MarkName): Promise<MarkRow | undefined> {
  return trx
    .updateTable('auditMarks')
    .set(({ ref }) => ({ seq: ref('seq') }))
    .where('name', '=', name)
    .returningAll()
    .executeTakeFirst();
}

export async function writeMark(trx: Db, { name, ...point }: MarkRow): Promise<void> {
  await trx.updateTable('auditMarks').set(point).where('name', '=', name).execute();
}

export async function appendToChain(trx: Db, rows: readonly SealedRow[]): Promise<void> {
  await trx
    .insertInto('auditEvents')
    .values([...rows])
    .execute();
}

/** Sealed events after a number, in the order of the chain. */
export async function readChain(db: Db, { after, to }: { after: number; to: number }, limit: number) {
  return db
    .selectFrom('auditEvents')
    .selectAll()
    .where('seq', '>', after)
    .where('seq', '<=', to)
    .orderBy('seq')
    .limit(limit)
    .execute();
}

export async function findNewest(db: Db): Promise<ChainPoint | undefined> {
  return db.selectFrom('auditEvents').select(['seq', 'chainHash']).orderBy('seq', 'desc').limit(1).executeTakeFirst();
}

/** An event outside of the chain between the two checkpoints: it was inserted by another writer. */
export async function findStray(
  db: Db,
  { after, to }: { after: number; to: number },
): Promise<{ seq: number; id: string } | undefined> {
  const rows = db.selectFrom('auditEvents').select(['seq', 'id']).limit(1);
  return (
    (await rows.where('seq', '<=', after).orderBy('seq').executeTakeFirst()) ??
    (await rows.where('seq', '>', to).orderBy('seq').executeTakeFirst())
  );
}

/** Deletes events after `after` up to and including `to`. */
export async function deleteChain(trx: Db, { after, to }: { after: number; to: number }): Promise<number> {
  const { numDeletedRows } = await trx
    .deleteFrom('auditEvents')
    .where('seq', '>', after)
    .where('seq', '<=', to)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/**
 * Deletes the personal part of all events of a member. The chain stays intact: it has only a digest of that part, whose
 * salt is deleted too.
 */
export async function eraseAuditEvents(trx: Db, userId: UserId): Promise<void> {
  const erased = { userId: null, person: null, salt: null };
  // The queue first: this waits for a sealer that takes one of its rows, and the second statement finds that event.
  await trx.updateTable('auditQueue').set(erased).where('userId', '=', userId).execute();
  await trx.updateTable('auditEvents').set(erased).where('userId', '=', userId).execute();
}

/** More than a member causes within the retention; a bound for memory. */
const maxExported = 100_000;

/** Parts of a listing. Times in milliseconds since the epoch. */
export interface EventFilter {
  userId?: UserId | undefined;
  type?: EventType | undefined;
  sinceMs?: number | undefined;
  untilMs?: number | undefined;
  /** Only events before this one in the chain. */
  before?: number | undefined;
  limit: number;
}

function toListed(row: QueuedRow & Partial<ChainPoint>): ListedEvent {
  const { id, at, type, actor, client, details, person: digest } = parseStored(bodySchema, row.body);
  const person = row.person === null ? undefined : parseStored(personSchema, row.person);
  return {
    seq: row.seq ?? null,
    hash: row.chainHash ?? null,
    id,
    at,
    type,
    actor,
    client,
    details,
    member: person?.member ?? null,
    address: person?.address ?? null,
    device: person?.device ?? null,
    erased: digest !== null && person === undefined,
  };
}

/** Sealed events, the newest first. */
export async function listEvents(db: Db, filter: EventFilter): Promise<ListedEvent[]> {
  const { userId, type, sinceMs, untilMs, before, limit } = filter;
  const rows = await db
    .selectFrom('auditEvents')
    .selectAll()
    .$if(userId !== undefined, (q) => q.where('userId', '=', userId ?? null))
    .$if(type !== undefined, (q) => q.where('type', '=', type ?? ''))
    .$if(sinceMs !== undefined, (q) => q.where('at', '>=', sinceMs ?? 0))
    .$if(untilMs !== undefined, (q) => q.where('at', '<', untilMs ?? 0))
    .$if(before !== undefined, (q) => q.where('seq', '<', before ?? 0))
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toListed);
}

/** A member's own events, the newest first; the first page begins with those that wait for the sealer. */
export async function listMemberEvents(
  db: Db,
  userId: UserId,
  { before, limit }: Pick<EventFilter, 'before' | 'limit'>,
): Promise<ListedEvent[]> {
  const waiting =
    before === undefined
      ? await db.selectFrom('auditQueue').selectAll().where('userId', '=', userId).orderBy('id', 'desc').execute()
      : [];
  const sealed = await listEvents(db, { userId, before, limit });
  const known = new Set(sealed.map(({ id }) => id));
  return [...waiting.filter(({ id }) => !known.has(id)).map(toListed), ...sealed];
}

/** All events of a member, for the export of personal data, the newest first. */
export async function exportMemberEvents(db: Db, userId: UserId) {
  const events = await listMemberEvents(db, userId, { before: undefined, limit: maxExported });
  return events.map(({ at, type, actor, client, address, device, details }) => ({
    at,
    type,
    actor: actor.kind,
    client,
    address,
    device,
    details,
  }));
}
