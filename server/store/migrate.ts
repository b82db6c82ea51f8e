import type { Kysely, Transaction } from 'kysely';
import type { Database } from './database.ts';
import { migrations as releasedMigrations } from './migrations/index.ts';
import type { Migration } from './migrations/migration.ts';
import type { Schema } from './schema.ts';

/** The table of the migrations that were applied to this database. */
interface HistoryTable {
  name: string;
  /** Milliseconds since the epoch. */
  appliedAt: number;
}
type MigrationHistory = { schemaHistory: HistoryTable };

/**
 * Brings the tables up to date: each pending migration in its own transaction, under a lock that all processes share.
 * Two processes that start at once apply each migration once.
 * @throws StoreUnavailable if the database is unavailable; a failing migration's own error, after a roll-back of that
 * one.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[] = releasedMigrations,
): Promise<{ applied: string[] }> {
  const applied: string[] = [];
  for (const name of await pendingMigrations(database, migrations)) {
    const migration = migrations.find((candidate) => candidate.name === name);
    if (migration && (await database.migrationTransaction((trx) => apply(trx, database.kind, migration)))) {
      applied.push(name);
    }
  }
  return { applied };
}

/** The names of the migrations that are not applied to this database, oldest first. */
export async function pendingMigrations(
  database: Database,
  migrations: readonly Migration[] = releasedMigrations,
): Promise<string[]> {
  const seen = await appliedNames(database);
  return migrations.map(({ name }) => name).filter((name) => !seen.has(name));
}

/**
 * Compares this database with the migrations of this Foyer.
 * @returns `pending` not applied yet; `unknown` applied by a newer Foyer; `empty` if none was ever applied
 */
export async function migrationState(
  database: Pick<Database, 'db'>,
): Promise<{ pending: string[]; unknown: string[]; empty: boolean }> {
  const seen = await appliedNames(database);
  const known = releasedMigrations.map(({ name }) => name);
  return {
    pending: known.filter((name) => !seen.has(name)),
    unknown: [...seen].filter((name) => !known.includes(name)),
    empty: seen.size === 0,
  };
}

/**
 * Time of the newest migration (milliseconds since the epoch, by the clock of the process that applied it); undefined:
 * never.
 */
export async function lastMigratedAt({ db }: Pick<Database, 'db'>): Promise<number | undefined> {
  const row = await history(db)
    .selectFrom('schemaHistory')
    .select(({ fn }) => fn.max('appliedAt').as('at'))
    .executeTakeFirst();
  return row?.at ?? undefined;
}

/** The name of the newest migration that is applied; undefined: none. */
export async function newestMigration(database: Pick<Database, 'db'>): Promise<string | undefined> {
  return [...(await appliedNames(database))].toSorted().at(-1);
}

async function appliedNames({ db }: Pick<Database, 'db'>): Promise<Set<string>> {
  const tables = await db.introspection.getTables();
  if (!tables.some(({ name }) => name === 'schema_history')) return new Set();
  const rows = await history(db).selectFrom('schemaHistory').select('name').execute();
  return new Set(rows.map(({ name }) => name));
}

/** True if it was applied, false if another process was first. */
async function apply(trx: Transaction<Schema>, kind: Database['kind'], migration: Migration): Promise<boolean> {
  // Migrations contain the names of the database.
  const plain = trx.withoutPlugins();
  await plain.schema
    .createTable('schema_history')
    .ifNotExists()
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('applied_at', 'bigint', (column) => column.notNull())
    .execute();
  const { name } = migration;
  const seen = await history(trx)
    .selectFrom('schemaHistory')
    .select('name')
    .where('name', '=', name)
    .executeTakeFirst();
  if (seen) return false;
  await migration.up({ schema: plain.schema, executor: plain, kind });
  await history(trx).insertInto('schemaHistory').values({ name, appliedAt: Date.now() }).execute();
  return true;
}

function history(db: Kysely<Schema>): Kysely<Schema & MigrationHistory> {
  return db.withTables<MigrationHistory>();
}
