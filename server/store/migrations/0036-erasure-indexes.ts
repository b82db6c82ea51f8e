import type { Migration } from './migration.ts';

/** The erasure of one account finds its rows among those of all users, also in tables that are kept for years. */
export const erasureIndexes: Migration = {
  name: '0036-erasure-indexes',
  async up({ schema }) {
    await schema.createIndex('outbox_recipient').on('outbox').column('recipient').execute();
    await schema.createIndex('sign_ups_user').on('sign_ups').column('user_id').execute();
    await schema.createIndex('partner_deals_user').on('partner_deals').column('user_id').execute();
    await schema.createIndex('trial_claims_user').on('trial_claims').column('user_id').execute();
    await schema.createIndex('billing_tasks_customer').on('billing_tasks').column('customer_id').execute();
  },
};
