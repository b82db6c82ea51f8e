import type { Migration } from './migration.ts';

/** The APIs of the marketplace that accept JWT access tokens. */
export const resourceServers: Migration = {
  name: '0004-resource-servers',
  async up({ schema }) {
    await schema
      .createTable('resource_servers')
      .addColumn('identifier', 'text', (column) => column.primaryKey())
      .addColumn('scopes', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute();
  },
};
