import type { Migration } from './migration.ts';

/** The process that does a job which only one may do at a time. */
export const leases: Migration = {
  name: '0002-leases',
  async up({ schema }) {
    await schema
      .createTable('leases')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('holder', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .execute();
  },
};
