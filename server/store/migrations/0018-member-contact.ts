import type { Migration } from './migration.ts';

/** Updates that Stripe's customers still lack; and indexes for billing tasks by user and by age. */
export const memberContact: Migration = {
  name: '0018-member-contact',
  async up({ schema }) {
    await schema.alterTable('memberships').addColumn('contact', 'text').execute();
    await schema.alterTable('memberships').addColumn('contact_at', 'bigint').execute();
    await schema
      .createIndex('memberships_contact_at')
      .on('memberships')
      .column('contact_at')
      .where('contact_at', 'is not', null)
      .execute();
    await schema.createIndex('billing_tasks_user').on('billing_tasks').column('user_id').execute();
    await schema.createIndex('billing_tasks_created').on('billing_tasks').column('created_at').execute();
  },
};
