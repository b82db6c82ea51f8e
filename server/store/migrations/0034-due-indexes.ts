import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** Jobs and lists read these rows among those of all users: each look-up has its index. */
export const dueIndexes: Migration = {
  name: '0034-due-indexes',
  async up({ schema, executor }) {
    await schema.createIndex('users_created').on('users').columns(['created_at', 'id']).execute();
    await schema.createIndex('purchases_state').on('purchases').columns(['state', 'updated_at']).execute();
    await schema.createIndex('memberships_period').on('memberships').columns(['status', 'period_end']).execute();
    await schema.createIndex('memberships_trial').on('memberships').columns(['status', 'trial_end']).execute();
    // The query repeats this condition word by word: otherwise no database uses the index.
    await sql`create index orders_money_back on orders (id)
      where refunded_cents > 0 or dispute_state is not null or credit_notes is not null`.execute(executor);
  },
};
