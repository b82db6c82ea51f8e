import type { Migration } from './migration.ts';

/** The previous secret of a client, and its expiry: a rotation needs no outage. */
export const clientSecrets: Migration = {
  name: '0019-client-secrets',
  async up({ schema }) {
    await schema.alterTable('clients').addColumn('previous_secret_hash', 'text').execute();
    await schema.alterTable('clients').addColumn('previous_secret_expires_at', 'bigint').execute();
  },
};
