import { statSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { noChangeTracking } from './change-marker.ts';
import type { Database } from './database.ts';
import { createKysely } from './db.ts';
import { openDatabase } from './open-database.ts';
import { readSqlite } from './sqlite.ts';
import { createSqliteDialect } from './sqlite-dialect.ts';
import { fromSqliteError, whileBusy } from './sqlite-errors.ts';

/**
 * Opens the database for inspection: creates no file and no table, and changes nothing. Its transactions are refused.
 * @returns undefined if there is no SQLite file yet
 * @throws StoreUnavailable if it does not answer; TypeError for an unsupported address
 */
export async function inspectDatabase(url: string | undefined, dataDir: string): Promise<Database | undefined> {
  const refuse = () => Promise.reject(new Error('this database was opened to look at it alone'));
  if (url) return { ...(await openDatabase({ url, dataDir })), transaction: refuse, migrationTransaction: refuse };
  const path = join(dataDir, 'foyer.db');
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  const reader = await readSqlite(path);
  const quiet = { ...noChangeTracking, wrote() {}, over() {} };
  const db = createKysely(createSqliteDialect({ writer: reader, reader }, quiet));
  return {
    kind: 'sqlite',
    db,
    changes: noChangeTracking,
    transaction: refuse,
    migrationTransaction: refuse,
    async ping() {
      await sql`select 1 from sqlite_schema`.execute(db);
    },
    async close() {
      await db.destroy();
      reader.close();
    },
  };
}

/** Facts about one of Foyer's SQLite files. */
export interface SqliteFacts {
  sizeBytes: number;
  /** `wal` as Foyer sets it. */
  journalMode: string;
  /** `ok`, or the result of `PRAGMA quick_check`; undefined if the file is too large for a quick read. */
  damage: string | undefined;
}

/**
 * Inspects a SQLite file without writing to it.
 * @param max maximum number of bytes for a full read
 * @returns undefined if there is none @throws StoreUnavailable if it cannot be read
 */
export async function inspectSqliteFile(path: string, max: number): Promise<SqliteFacts | undefined> {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  const connection = await readSqlite(path);
  const first = (pragma: string, column: string) =>
    whileBusy(() => String(connection.prepare(`PRAGMA ${pragma}`).statement.get()?.[column]));
  try {
    return {
      sizeBytes: stats.size,
      journalMode: await first('journal_mode', 'journal_mode'),
      damage: stats.size > max ? undefined : await first('quick_check(1)', 'quick_check'),
    };
  } catch (error) {
    throw fromSqliteError(error);
  } finally {
    connection.close();
  }
}
