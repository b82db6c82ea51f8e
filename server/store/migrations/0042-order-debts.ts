import type { Migration } from './migration.ts';

/** The debt that an order has left, or has charged from before: its price is not the amount that was paid for it. */
export const orderDebts: Migration = {
  name: '0042-order-debts',
  async up({ schema }) {
    await schema.alterTable('orders').addColumn('debt_cents', 'integer').execute();
  },
};
