import type { QueryExecutorProvider, SchemaModule } from 'kysely';

/**
 * One migration. It must keep working unchanged, so it does not import the current schema: it builds with
 * `schema`, and moves data with `sql` from Kysely on `executor`.
 */
export interface Migration {
  /** Number and word: `0001-first`. Never changed once released. */
  readonly name: string;
  /**
   * Of a migration on whose result earlier code fails (docs/production.md, "Migrations and releases"): the migration
   * since which the code works with it. A process that does not know that one stops: see `schemaState`.
   */
  readonly compatibleSince?: string;
  up(context: MigrationContext): Promise<void>;
}

interface MigrationContext {
  schema: SchemaModule;
  executor: QueryExecutorProvider;
  kind: 'sqlite' | 'postgres';
}
