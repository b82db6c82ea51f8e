import type { Migration } from './migration.ts';

/** The discount that an operator has given the customer at Stripe. */
export const customerDiscount: Migration = {
  name: '0026-customer-discount',
  async up({ schema }) {
    await schema.alterTable('memberships').addColumn('customer_discount', 'text').execute();
  },
};
