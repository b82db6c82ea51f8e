import { join } from 'node:path';
import { sql } from 'kysely';
import { databaseFile } from './data-files.ts';
import type { Database } from './database.ts';
import { createKysely } from './db.ts';
import { observeDialect, type StoreObserver } from './observe-store.ts';
import { finishReplacement } from './replace-data.ts';
import { openSqlite } from './sqlite.ts';
import { watchSqlite } from './sqlite-changes.ts';
import { checkpointElsewhere } from './sqlite-checkpoints.ts';
import { createSqliteDialect, guardedTransaction } from './sqlite-dialect.ts';

/** Opens `<dataDir>/foyer.db`, which several processes of one host may share. */
export async function openSqliteDatabase(dataDir: string, observe?: StoreObserver): Promise<Database> {
  finishReplacement(dataDir);
  const path = join(dataDir, databaseFile);
  const writer = await openSqlite(path);
  const reader = await openSqlite(path, { readOnly: true });
  const checkpoints = checkpointElsewhere(path);
  const changes = watchSqlite(writer);
  const dialect = createSqliteDialect({ writer, reader }, changes);
  const db = createKysely(observe ? observeDialect(dialect, observe) : dialect);
  return {
    kind: 'sqlite',
    db,
    changes,
    transaction: (fn) => guardedTransaction(db, fn),
    // BEGIN IMMEDIATE is the lock.
    migrationTransaction: (fn) => guardedTransaction(db, fn),
    async ping() {
      await sql`select 1`.execute(db);
      await writer.stillThere();
    },
    async close() {
      await checkpoints.stop();
      await db.destroy();
      // Kysely does not close connections that it never used.
      reader.close();
      writer.close();
    },
  };
}
