import type { Database } from '../store/index.ts';
import {
  appendToChain,
  hasQueued,
  insertMark,
  lockMark,
  type SealedRow,
  takeQueued,
  writeMark,
} from './audit-store.ts';
import { linkEvent, signPoint, start } from './chain.ts';

const batch = 200;

/**
 * Appends the oldest queued events to the chain, in one transaction that excludes every other sealer. A process that is
 * killed meanwhile leaves the events in the queue.
 * @returns their number
 */
async function sealBatch(database: Database, keys: readonly Buffer[], nowMs: number): Promise<number> {
  return database.transaction(async (trx) => {
    for (const name of ['head', 'start'] as const) {
      await insertMark(trx, { name, ...start, mac: signPoint(keys, name, start), updatedAt: nowMs });
    }
    const head = await lockMark(trx, 'head');
    if (!head) return 0;
    const queued = await takeQueued(trx, batch);
    if (queued.length === 0) return 0;
    let point = { seq: head.seq, chainHash: head.chainHash };
    const sealed: SealedRow[] = queued.map((row) => {
      point = linkEvent(point, row.body);
      return { ...row, ...point };
    });
    await appendToChain(trx, sealed);
    await writeMark(trx, { name: 'head', ...point, mac: signPoint(keys, 'head', point), updatedAt: nowMs });
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
