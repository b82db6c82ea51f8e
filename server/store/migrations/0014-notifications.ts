import type { Migration } from './migration.ts';

/** Notifications of security changes are told apart from what senders write, and old ones are found to be deleted. */
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
