import type { Migration } from './migration.ts';

/** Codes that give a paid plan for some months, and the plan that a member has by one. */
export const gifts: Migration = {
  name: '0039-gifts',
  async up({ schema }) {
    await schema
      .createTable('gifts')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('code_hash', 'text', (column) => column.notNull())
      .addColumn('plan_id', 'text', (column) => column.notNull())
      .addColumn('months', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addColumn('revoked_at', 'bigint')
      .addColumn('user_id', 'text')
      .addColumn('redeemed_at', 'bigint')
      .addColumn('ends_at', 'bigint')
      .execute();
    await schema.createIndex('gifts_code').unique().on('gifts').column('code_hash').execute();
    await schema.createIndex('gifts_user').on('gifts').column('user_id').execute();
    await schema.createIndex('gifts_expiry').on('gifts').column('expires_at').execute();
    await schema.alterTable('memberships').addColumn('gift_plan_id', 'text').execute();
    await schema.alterTable('memberships').addColumn('gift_until', 'bigint').execute();
    await schema.createIndex('memberships_gift').on('memberships').column('gift_until').execute();
  },
};
