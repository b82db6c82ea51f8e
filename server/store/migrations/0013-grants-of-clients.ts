import type { Migration } from './migration.ts';

/**
 * Grants are found by their client, in the order of their ids: refresh tokens have no client and are not in this index.
 */
export const grantsOfClients: Migration = {
  name: '0013-grants-of-clients',
  async up({ schema }) {
    await schema
      .createIndex('oidc_client_grants')
      .on('oidc')
      .columns(['client_id', 'model', 'id_hash'])
      .where('client_id', 'is not', null)
      .execute();
  },
};
