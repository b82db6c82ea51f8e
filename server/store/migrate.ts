import type { Generated, Kysely, Selectable, Transaction } from 'kysely';
import type { Database } from './database.ts';
import { migrations as releasedMigrations } from './migrations/index.ts';
import type { Migration } from './migrations/migration.ts';
import type { Schema } from './schema.ts';

/** The table of the migrations that were applied to this database. */
interface HistoryTable {
  name: string;
  /** Milliseconds since the epoch. */
  appliedAt: number;
  /** Since `0031-schema-compatibility`; null: earlier code works with the migration too. */
  compatibleSince: Generated<string | null>;
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
  const seen = new Set((await readHistory(database)).map(({ name }) => name));
  return migrations.map(({ name }) => name).filter((name) => !seen.has(name));
}

/** The names of migrations of this Foyer, and of those that a newer one has applied. */
interface SchemaDifference {
  /** Not applied yet. */
  pending: string[];
  /** Applied by a newer release. */
  unknown: string[];
  /** Those of them with which this release cannot work. */
  incompatible: string[];
}

function compare(rows: readonly HistoryRow[]): SchemaDifference {
  const applied = new Set(rows.map(({ name }) => name));
  const known = releasedMigrations.map(({ name }) => name);
  const unknown = rows.filter(({ name }) => !known.includes(name));
  return {
    pending: known.filter((name) => !applied.has(name)),
    unknown: unknown.map(({ name }) => name),
    incompatible: unknown
      .filter(({ compatibleSince }) => compatibleSince !== null && !known.includes(compatibleSince))
      .map(({ name }) => name),
  };
}

/**
 * Compares this database with the migrations of this Foyer.
 * @returns `empty` if none was ever applied
 */
export async function migrationState(database: Pick<Database, 'db'>): Promise<SchemaDifference & { empty: boolean }> {
  const rows = await readHistory(database);
  return { ...compare(rows), empty: rows.length === 0 };
}

/** `newer`: a newer release has migrated, and this one works with the result. `older`: migrations are pending. */
export type SchemaState = 'current' | 'newer' | 'too new' | 'older';

/** The state of a database that this release, or a newer one, has migrated. */
export async function schemaState({ db }: Pick<Database, 'db'>): Promise<SchemaState> {
  const rows = await history(db).selectFrom('schemaHistory').select(['name', 'compatibleSince']).execute();
  const { pending, unknown, incompatible } = compare(rows);
  if (incompatible.length > 0) return 'too new';
  if (pending.length > 0) return 'older';
  return unknown.length > 0 ? 'newer' : 'current';
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

/** Whether this machine's clock is behind the database. A minute is left to the clocks of several hosts. */
export const isClockBehind = (lastMigratedAtMs: number, nowMs: number): boolean => nowMs < lastMigratedAtMs - 60_000;

/** The name of the newest migration that is applied; undefined: none. */
export async function newestMigration(database: Pick<Database, 'db'>): Promise<string | undefined> {
  const names = (await readHistory(database)).map(({ name }) => name);
  return names.toSorted().at(-1);
}

type HistoryRow = Selectable<Pick<HistoryTable, 'name' | 'compatibleSince'>>;

async function readHistory({ db }: Pick<Database, 'db'>): Promise<HistoryRow[]> {
  const table = (await db.introspection.getTables()).find(({ name }) => name === 'schema_history');
  if (!table) return [];
  const rows = history(db).selectFrom('schemaHistory');
  if (table.columns.some(({ name }) => name === 'compatible_since'))
    return rows.select(['name', 'compatibleSince']).execute();
  return (await rows.select('name').execute()).map(({ name }) => ({ name, compatibleSince: null }));
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
  // The column is younger than the first migrations, none of which has a value for it.
  const { compatibleSince } = migration;
  const row = { name, appliedAt: Date.now(), ...(compatibleSince !== undefined && { compatibleSince }) };
  await history(trx).insertInto('schemaHistory').values(row).execute();
  return true;
}

function history(db: Kysely<Schema>): Kysely<Schema & MigrationHistory> {
  return db.withTables<MigrationHistory>();
}
