import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import { noChangeTracking } from './change-marker.ts';
import { type Database, openDatabase } from './database.ts';
import type { Schema } from './schema.ts';
import { readSqlite } from './sqlite.ts';
import { createSqliteDialect } from './sqlite-dialect.ts';
import { fromSqliteError, whileBusy } from './sqlite-errors.ts';

/**
 * Opens the database to look at it: makes no file, no table, and turns nothing of what is there. Its transactions are
 * refused.
 *
 * @returns undefined when there is no SQLite file yet
 * @throws StoreUnavailable when it does not answer; TypeError for an address of another kind
 */
export async function inspectDatabase(url: string | undefined, dataDir: string): Promise<Database | undefined> {
  const refuse = () => Promise.reject(new Error('this database was opened to look at it alone'));
  if (url) return { ...(await openDatabase({ url, dataDir })), transaction: refuse, migrationTransaction: refuse };
  const path = join(dataDir, 'foyer.db');
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  const reader = await readSqlite(path);
  const quiet = { ...noChangeTracking, wrote() {}, over() {} };
  const db = new Kysely<Schema>({ dialect: createSqliteDialect({ writer: reader, reader }, quiet) });
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

/** What can be told of one of Foyer's SQLite files. */
export interface SqliteFacts {
  sizeBytes: number;
  /** `wal` as Foyer sets it. */
  journalMode: string;
  /** `ok`, or what `PRAGMA quick_check` found; undefined when the file is too large to read it in passing. */
  damage: string | undefined;
}

/**
 * Looks at a SQLite file without writing to it.
 * @param max bytes up to which it is read through
 * @returns undefined when there is none @throws StoreUnavailable when it cannot be read
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
