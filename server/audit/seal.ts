import type { Database, Db } from '../store/index.ts';
import {
  appendToChain,
  findMark,
  findNewest,
  hasQueued,
  insertMark,
  lockMark,
  type SealedRow,
  takeQueued,
  writeMark,
} from './audit-store.ts';
import { type ChainPoint, isSigned, linkEvent, signPoint, start, unsigned } from './chain.ts';

const batch = 200;

/** Checkpoints without a signature are for a chain whose checkpoints were deleted. */
async function createMarks(trx: Db, keys: readonly Buffer[], nowMs: number): Promise<void> {
  const marks = { head: await findMark(trx, 'head'), start: await findMark(trx, 'start') };
  if (marks.head && marks.start) return;
  const newest = await findNewest(trx);
  const isNew = !newest && !marks.head && !marks.start;
  for (const [name, point] of [['head', newest ?? start] as const, ['start', start] as const]) {
    const mac = isNew ? signPoint(keys, name, point) : unsigned;
    await insertMark(trx, { name, ...point, mac, updatedAt: nowMs });
  }
}

/** The point after which events are appended. It is not trusted if another writer has changed the chain. */
async function findEnd(trx: Db, keys: readonly Buffer[]): Promise<{ point: ChainPoint; isTrusted: boolean }> {
  const head = await lockMark(trx, 'head');
  if (!head) throw new Error('the head of the audit trail has disappeared');
  const point = { seq: head.seq, chainHash: head.chainHash };
  const newest = await findNewest(trx);
  if (newest && newest.seq > head.seq) return { point: { ...point, seq: newest.seq }, isTrusted: false };
  return { point, isTrusted: isSigned(keys, 'head', head) };
}

/**
 * Appends the oldest queued events to the chain, in one transaction that excludes every other sealer. A process that is
 * killed meanwhile leaves the events in the queue. If the head was changed the new one has no signature: the events are
 * kept, and the verification fails.
 * @returns their number
 */
async function sealBatch(database: Database, keys: readonly Buffer[], nowMs: number): Promise<number> {
  return database.transaction(async (trx) => {
    await createMarks(trx, keys, nowMs);
    const { point: end, isTrusted } = await findEnd(trx, keys);
    const queued = await takeQueued(trx, batch);
    if (queued.length === 0) return 0;
    let point = end;
    const sealed: SealedRow[] = queued.map((row) => {
      point = linkEvent(point, row.body);
      return { ...row, ...point };
    });
    await appendToChain(trx, sealed);
    const mac = isTrusted ? signPoint(keys, 'head', point) : unsigned;
    await writeMark(trx, { name: 'head', ...point, mac, updatedAt: nowMs });
    return sealed.length;
  });
}

/** Appends all queued events. @returns their number */
export async function sealAll(database: Database, keys: readonly Buffer[], nowMs: number): Promise<number> {
  let sealed = 0;
  while (await hasQueued(database.db)) {
    const more = await sealBatch(database, keys, nowMs);
    if (more === 0) break;
    sealed += more;
  }
  return sealed;
}
