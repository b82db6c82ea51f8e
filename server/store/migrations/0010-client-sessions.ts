import type { Migration } from './migration.ts';

/** The client apps of a Foyer session, so that each is notified of its end. */
export const clientSessions: Migration = {
  name: '0010-client-sessions',
  async up({ schema }) {
    await schema
      .createTable('client_sessions')
      .addColumn('sid', 'text', (column) => column.primaryKey())
      .addColumn('foyer_session', 'text', (column) => column.notNull())
      .addColumn('client_id', 'text', (column) => column.notNull())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .execute();
    await schema
      .createIndex('client_sessions_session')
      .unique()
      .on('client_sessions')
      .columns(['foyer_session', 'client_id'])
      .execute();
    for (const column of ['account_id', 'client_id', 'expires_at'] as const) {
      await schema.createIndex(`client_sessions_${column}`).on('client_sessions').column(column).execute();
    }
  },
};
