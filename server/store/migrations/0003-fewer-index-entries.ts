import type { Migration } from './migration.ts';

/**
 * Refresh tokens, the most frequent rows of `oidc`, are found by their own id or their grant's: they leave the indexes
 * of sessions and accounts, which every code exchange had to write.
 */
export const fewerIndexEntries: Migration = {
  name: '0003-fewer-index-entries',
  async up({ schema }) {
    await schema.dropIndex('oidc_account_id').execute();
    await schema.dropIndex('oidc_foyer_session').execute();
    await schema
      .createIndex('oidc_account_id')
      .on('oidc')
      .column('account_id')
      .where('account_id', 'is not', null)
      .execute();
    await schema
      .createIndex('oidc_foyer_session')
      .on('oidc')
      .columns(['foyer_session', 'client_id', 'model'])
      .where('foyer_session', 'is not', null)
      .execute();
  },
};
