import type { Migration } from './migration.ts';

/** Consents and offline access belong to a user and a client app, not to one session of a browser. */
export const connectedApps: Migration = {
  name: '0020-connected-apps',
  async up({ schema }) {
    await schema
      .createTable('connected_apps')
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('client_id', 'text', (column) => column.notNull())
      .addColumn('scopes', 'text', (column) => column.notNull())
      .addColumn('resources', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('last_used_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('connected_apps_pk', ['user_id', 'client_id'])
      .execute();
    await schema.createIndex('connected_apps_client').on('connected_apps').column('client_id').execute();
    await schema
      .alterTable('oidc')
      .addColumn('offline', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
