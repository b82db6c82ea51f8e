import type { QueryExecutorProvider, SchemaModule } from 'kysely';

/**
 * One step of the database's history. It must keep working for ever as it was written, so it knows nothing of
 * today's `schema.ts`: it builds with `schema`, and moves data with `sql` from Kysely run on `executor`.
 */
export interface Migration {
  /** Number and word: `0001-first`. Never changed once released. */
  readonly name: string;
  up(context: MigrationContext): Promise<void>;
}

export interface MigrationContext {
  schema: SchemaModule;
  executor: QueryExecutorProvider;
  kind: 'sqlite' | 'postgres';
}
