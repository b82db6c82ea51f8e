import type { Migration } from './migration.ts';

/** The oldest code that works with the result of a migration, for processes that do not know the migration. */
export const schemaCompatibility: Migration = {
  name: '0031-schema-compatibility',
  async up({ schema }) {
    await schema.alterTable('schema_history').addColumn('compatible_since', 'text').execute();
  },
};
