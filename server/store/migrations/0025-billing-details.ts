import type { Migration } from './migration.ts';

/** Address, company and VAT id of users, which their customers at Stripe have too. */
export const billingDetails: Migration = {
  name: '0025-billing-details',
  async up({ schema }) {
    await schema
      .createTable('billing_details')
      .addColumn('user_id', 'text', (column) => column.primaryKey())
      .addColumn('name', 'text')
      .addColumn('company', 'text')
      .addColumn('line1', 'text')
      .addColumn('line2', 'text')
      .addColumn('postal_code', 'text')
      .addColumn('city', 'text')
      .addColumn('state', 'text')
      .addColumn('country', 'text')
      .addColumn('vat_id', 'text')
      .addColumn('vat_id_status', 'text')
      .addColumn('tax_id_object', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .execute();
  },
};
