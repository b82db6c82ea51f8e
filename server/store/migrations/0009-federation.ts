import type { Migration } from './migration.ts';

/** Federated users: their identities, and the demands of their providers. */
export const federation: Migration = {
  name: '0009-federation',
  async up({ schema }) {
    await schema
      .createTable('federated_identities')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('issuer', 'text', (column) => column.notNull())
      .addColumn('subject', 'text', (column) => column.notNull())
      .addColumn('provider', 'text', (column) => column.notNull())
      .addColumn('email', 'text')
      .addColumn('linked_at', 'bigint', (column) => column.notNull())
      .addColumn('last_used_at', 'bigint')
      .execute();
    await schema
      .createIndex('federated_identities_subject')
      .unique()
      .on('federated_identities')
      .columns(['kind', 'issuer', 'subject'])
      .execute();
    await schema.createIndex('federated_identities_user').on('federated_identities').column('user_id').execute();
    await schema
      .alterTable('users')
      .addColumn('second_factor_required', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await schema.alterTable('sign_ups').addColumn('identity', 'text').execute();
  },
};
