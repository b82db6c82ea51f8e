import type { Database } from '../store/index.ts';
import { deleteChainUpTo, findLastExpired, lockMark, type MarkName, writeMark } from './audit-store.ts';
import { isSigned, signPoint } from './chain.ts';

const batch = 1_000;

/**
 * Deletes the events at the beginning of the chain that are older than a time. The last of them stays as a signed
 * checkpoint, from which the verification begins.
 * @returns the number of deleted events
 */
export async function dropExpired(
  database: Database,
  keys: readonly Buffer[],
  { beforeMs, nowMs }: { beforeMs: number; nowMs: number },
): Promise<number> {
  let deleted = 0;
  for (;;) {
    const more = await database.transaction(async (trx) => {
      if (!(await lockMark(trx, 'start'))) return 0;
      const last = await findLastExpired(trx, beforeMs, batch);
      if (!last) return 0;
      await writeMark(trx, { name: 'start', ...last, mac: signPoint(keys, 'start', last), updatedAt: nowMs });
      return deleteChainUpTo(trx, last.seq);
    });
    if (more === 0) return deleted;
    deleted += more;
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
