import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import type { Database } from './database.ts';
import type { Schema } from './schema.ts';
import { openSqlite } from './sqlite.ts';
import { watchSqlite } from './sqlite-changes.ts';
import { createSqliteDialect, guardedTransaction } from './sqlite-dialect.ts';

/** Opens `<dataDir>/foyer.db`, which may be shared by several processes of one host. */
export async function openSqliteDatabase(dataDir: string): Promise<Database> {
  const path = join(dataDir, 'foyer.db');
  const writer = await openSqlite(path);
  const reader = await openSqlite(path, { readOnly: true });
  const changes = watchSqlite(writer);
  const db = new Kysely<Schema>({ dialect: createSqliteDialect({ writer, reader }, changes) });
  return {
    kind: 'sqlite',
    db,
    changes,
    transaction: (fn) => guardedTransaction(db, fn),
    // BEGIN IMMEDIATE is the lock.
    migrationTransaction: (fn) => guardedTransaction(db, fn),
    async ping() {
      await sql`select 1`.execute(db);
    },
    async close() {
      await db.destroy();
      // Kysely does not close what it never used.
      reader.close();
      writer.close();
    },
  };
}
