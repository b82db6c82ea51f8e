import type { Migration } from './migration.ts';

/** The price and the next charge of a membership, the user's credit, the plan's amount of an order, and quoted dates. */
export const announcedAmounts: Migration = {
  name: '0022-announced-amounts',
  async up({ schema }) {
    await schema.alterTable('memberships').addColumn('price', 'text').execute();
    await schema.alterTable('memberships').addColumn('next_charge', 'text').execute();
    await schema
      .alterTable('memberships')
      .addColumn('balance_cents', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await schema.alterTable('orders').addColumn('plan_amount_cents', 'integer').execute();
    await schema.alterTable('purchases').addColumn('quoted', 'text').execute();
  },
};
