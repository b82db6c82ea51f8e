import type { Database, Db } from '../store/index.ts';
import { deleteChain, findMark, lockMark, type MarkName, readChain, type SealedRow, writeMark } from './audit-store.ts';
import { type ChainPoint, isSigned, signPoint } from './chain.ts';
import { findFault } from './verify-chain.ts';

const batch = 500;

/** The outcome of one batch. `broken`: the chain is not intact at its beginning, so nothing may be deleted from it. */
type Expired = { kind: 'deleted'; events: number } | { kind: 'broken'; seq: number };

/** The last event that has expired, of the next ones after a point. Each is verified, its time too. */
function findLastExpired(
  start: ChainPoint,
  rows: readonly SealedRow[],
  beforeMs: number,
): ChainPoint | { brokenSeq: number } {
  let last = start;
  for (const row of rows) {
    if (findFault(last, row) !== undefined) return { brokenSeq: last.seq + 1 };
    if (row.at >= beforeMs) break;
    last = { seq: row.seq, chainHash: row.chainHash };
  }
  return last;
}

async function dropBatch(
  trx: Db,
  keys: readonly Buffer[],
  { beforeMs, nowMs }: { beforeMs: number; nowMs: number },
): Promise<Expired> {
  const start = await lockMark(trx, 'start');
  const head = await findMark(trx, 'head');
  if (!start || !head) return { kind: 'deleted', events: 0 };
  if (!isSigned(keys, 'start', start) || !isSigned(keys, 'head', head)) return { kind: 'broken', seq: start.seq };
  const rows = await readChain(trx, { after: start.seq, to: head.seq }, batch);
  const last = findLastExpired(start, rows, beforeMs);
  if ('brokenSeq' in last) return { kind: 'broken', seq: last.brokenSeq };
  if (last.seq === start.seq) return { kind: 'deleted', events: 0 };
  const { seq, chainHash } = last;
  const mac = signPoint(keys, 'start', { seq, chainHash });
  await writeMark(trx, { name: 'start', seq, chainHash, mac, updatedAt: nowMs });
  return { kind: 'deleted', events: await deleteChain(trx, { after: start.seq, to: seq }) };
}

/**
 * Deletes the events at the beginning of the chain that are older than a time. The last of them stays as a signed
 * checkpoint, from which the verification begins. From a broken chain nothing is deleted, because the new checkpoint
 * would hide the fault.
 * @returns the number of deleted events, or where the chain is broken
 */
export async function dropExpired(
  database: Database,
  keys: readonly Buffer[],
  times: { beforeMs: number; nowMs: number },
): Promise<Expired> {
  let deleted = 0;
  for (;;) {
    const dropped = await database.transaction((trx) => dropBatch(trx, keys, times));
    if (dropped.kind === 'broken') return dropped;
    if (dropped.events === 0) return { kind: 'deleted', events: deleted };
    deleted += dropped.events;
  }
}

/** After a change of SECRET_KEY: signs a checkpoint with the new key, unless its signature is wrong. */
export async function renewSignatures(database: Database, keys: readonly Buffer[], nowMs: number): Promise<void> {
  const renew = (name: MarkName) =>
    database.transaction(async (trx) => {
      const mark = await lockMark(trx, name);
      if (!mark || !isSigned(keys, name, mark)) return;
      await writeMark(trx, { ...mark, mac: signPoint(keys, name, mark), updatedAt: nowMs });
    });
  await renew('start');
  await renew('head');
}
