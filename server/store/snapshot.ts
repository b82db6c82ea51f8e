import { chmodSync } from 'node:fs';
import { propertyIn } from '../shared/index.ts';
import { syncPath } from './data-files.ts';
import { StoreUnavailable } from './key-value.ts';
import { readSqlite } from './sqlite.ts';
import { fromSqliteError, sqliteCode, whileBusy } from './sqlite-errors.ts';

/**
 * Writes a copy of a SQLite file as it is at one moment; other processes go on writing meanwhile (`VACUUM INTO`). The
 * copy has no rows that were deleted, and is checked and on the disk when this returns.
 * @param target must not exist
 * @throws StoreUnavailable if the file cannot be read, is damaged, or the disk is full
 */
export async function snapshotSqlite(source: string, target: string): Promise<void> {
  const connection = await readSqlite(source);
  try {
    await whileBusy(() => connection.prepare('VACUUM INTO ?').statement.run(target));
  } catch (error) {
    throw fromSqliteError(error);
  } finally {
    connection.close();
  }
  chmodSync(target, 0o600);
  await requireIntact(target);
  syncPath(target);
}

/** @throws StoreUnavailable if SQLite finds damage in the file */
async function requireIntact(path: string): Promise<void> {
  const connection = await readSqlite(path);
  try {
    const result = connection.prepare('PRAGMA quick_check(1)').statement.get()?.quick_check;
    if (result !== 'ok') throw new StoreUnavailable(`${path} is damaged: ${String(result)}`);
  } catch (error) {
    throw fromSqliteError(error);
  } finally {
    connection.close();
  }
}

/** SQLITE_FULL, https://www.sqlite.org/rescode.html#full */
const fullDisk: ReadonlySet<number | undefined> = new Set([13]);

/** Tests whether an error, or its cause, says that no space is left. */
export function isDiskFull(error: unknown): boolean {
  const causes = [error, propertyIn(error, 'cause')];
  return causes.some((one) => fullDisk.has(sqliteCode(one)) || propertyIn(one, 'code') === 'ENOSPC');
}
