import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/**
 * Refunds, disputes and credit notes of orders, the details of billing tasks, and how far Stripe's events and the
 * comparison with Stripe were read.
 */
export const moneyBack: Migration = {
  name: '0023-money-back',
  async up({ schema, executor }) {
    await schema.alterTable('orders').addColumn('payment_intent_id', 'text').execute();
    await schema.alterTable('orders').addColumn('dispute_state', 'text').execute();
    await schema.alterTable('orders').addColumn('credit_notes', 'text').execute();
    // The next comparison reads how the dispute ended.
    await sql`update orders set dispute_state = 'open' where disputed_at is not null`.execute(executor);
    await schema
      .createIndex('orders_payment_intent')
      .on('orders')
      .column('payment_intent_id')
      .where('payment_intent_id', 'is not', null)
      .execute();
    await schema.alterTable('billing_tasks').addColumn('detail', 'text').execute();
    await schema
      .createTable('billing_progress')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('position', 'text')
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .execute();
  },
};
