import type { Migration } from './migration.ts';

/** The tax of orders; null: an order of an earlier release. */
export const tax: Migration = {
  name: '0024-tax',
  async up({ schema }) {
    await schema.alterTable('orders').addColumn('tax_cents', 'integer').execute();
  },
};
