import type { SchemaModule } from 'kysely';
import type { Migration } from './migration.ts';

/** Plans, cards and orders: the stored membership of a user, as last read from the card provider. */
export const membership: Migration = {
  name: '0008-membership',
  async up({ schema }) {
    await schema.alterTable('users').addColumn('trial_until', 'bigint').execute();
    await schema.alterTable('users').addColumn('offered_plan_id', 'text').execute();
    await schema.alterTable('account_deletions').addColumn('membership', 'text').execute();
    await createMemberships(schema);
    await createPurchases(schema);
    await createOrders(schema);
    await createBooks(schema);
  },
};

async function createMemberships(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('memberships')
    .addColumn('user_id', 'text', (column) => column.primaryKey())
    .addColumn('customer_id', 'text')
    .addColumn('customer_asked_at', 'bigint')
    .addColumn('trial_days', 'integer', (column) => column.notNull())
    .addColumn('subscription_id', 'text')
    .addColumn('generation', 'integer', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('priced_plan_id', 'text')
    .addColumn('period_start', 'bigint')
    .addColumn('period_end', 'bigint')
    .addColumn('trial_end', 'bigint')
    .addColumn('cancel_at_period_end', 'integer', (column) => column.notNull())
    .addColumn('next_plan_id', 'text')
    .addColumn('paid_plan_id', 'text')
    .addColumn('paid_until', 'bigint')
    .addColumn('base_plan_id', 'text')
    .addColumn('card', 'text')
    .addColumn('discount', 'text')
    .addColumn('unpaid', 'text')
    .addColumn('unpaid_since', 'bigint')
    .addColumn('pending', 'text')
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('synced_at', 'bigint')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('memberships_customer').unique().on('memberships').column('customer_id').execute();
  await schema.createIndex('memberships_subscription').on('memberships').column('subscription_id').execute();
  await schema.createIndex('memberships_next').on('memberships').columns(['next_plan_id', 'period_end']).execute();
  await schema.createIndex('memberships_unpaid').on('memberships').columns(['status', 'unpaid_since']).execute();
}

async function createPurchases(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('purchases')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('open_for', 'text')
    .addColumn('plan_id', 'text', (column) => column.notNull())
    .addColumn('promotion', 'text')
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('attempt', 'integer', (column) => column.notNull())
    .addColumn('charge', 'text')
    .addColumn('invoice_id', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
  // One open purchase per user; null once it is closed, and nulls are all different.
  await schema.createIndex('purchases_open').unique().on('purchases').column('open_for').execute();
  await schema.createIndex('purchases_user').on('purchases').columns(['user_id', 'created_at']).execute();
}

async function createOrders(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('orders')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text')
    .addColumn('invoice_id', 'text', (column) => column.notNull())
    .addColumn('invoice_number', 'text')
    .addColumn('invoice_url', 'text')
    .addColumn('customer_id', 'text', (column) => column.notNull())
    .addColumn('subscription_id', 'text')
    .addColumn('plan_id', 'text')
    .addColumn('order_purchase', 'text', (column) => column.notNull())
    .addColumn('order_type', 'text', (column) => column.notNull())
    .addColumn('currency', 'text', (column) => column.notNull())
    .addColumn('paid_cents', 'bigint', (column) => column.notNull())
    .addColumn('used_credit_cents', 'bigint', (column) => column.notNull())
    .addColumn('discount_cents', 'bigint', (column) => column.notNull())
    .addColumn('recurring_discount_cents', 'bigint', (column) => column.notNull())
    .addColumn('voucher', 'text')
    .addColumn('refunded_cents', 'bigint', (column) => column.notNull())
    .addColumn('disputed_at', 'bigint')
    .addColumn('card', 'text')
    .addColumn('validity_days', 'integer')
    .addColumn('renews_at', 'bigint')
    .addColumn('ordered_at', 'bigint', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('orders_invoice').unique().on('orders').column('invoice_id').execute();
  await schema.createIndex('orders_user').on('orders').columns(['user_id', 'ordered_at']).execute();
}

async function createBooks(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('stripe_events')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('customer_id', 'text')
    .addColumn('received_at', 'bigint', (column) => column.notNull())
    .addColumn('done_at', 'bigint')
    .execute();
  await schema.createIndex('stripe_events_received_at').on('stripe_events').column('received_at').execute();
  await schema
    .createTable('trial_claims')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('value_hash', 'text', (column) => column.notNull())
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('claimed_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('trial_claims_pk', ['kind', 'value_hash'])
    .execute();
  await schema
    .createTable('told_members')
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('about', 'text', (column) => column.notNull())
    .addColumn('told_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('told_members_pk', ['user_id', 'about'])
    .execute();
  await schema
    .createTable('billing_tasks')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('customer_id', 'text')
    .addColumn('plan_id', 'text')
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('last_error', 'text')
    .addColumn('next_attempt_at', 'bigint', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('billing_tasks_next').on('billing_tasks').column('next_attempt_at').execute();
}
