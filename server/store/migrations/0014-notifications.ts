import type { Migration } from './migration.ts';

/** Distinguishes notifications of security changes from those of other senders, and finds old ones for deletion. */
export const notifications: Migration = {
  name: '0014-notifications',
  async up({ schema }) {
    await schema
      .alterTable('notifications')
      .addColumn('security', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await schema.createIndex('notifications_age').on('notifications').column('created_at').execute();
  },
};
