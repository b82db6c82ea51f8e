import type { QueryExecutorProvider, SchemaModule } from 'kysely';

/**
 * One migration. It must keep working unchanged, so it does not import the current schema: it builds with
 * `schema`, and moves data with `sql` from Kysely on `executor`.
 */
export interface Migration {
  /** Number and word: `0001-first`. Never changed once released. */
  readonly name: string;
  up(context: MigrationContext): Promise<void>;
}

interface MigrationContext {
  schema: SchemaModule;
  executor: QueryExecutorProvider;
  kind: 'sqlite' | 'postgres';
}
