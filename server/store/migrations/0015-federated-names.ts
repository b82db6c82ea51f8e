import type { Migration } from './migration.ts';

/** The latest name from a provider: a reassigned user name comes with another name. */
export const federatedNames: Migration = {
  name: '0015-federated-names',
  async up({ schema }) {
    await schema.alterTable('federated_identities').addColumn('name', 'text').execute();
  },
};
