import type { Migration } from './migration.ts';

/** The name that a provider last gave for a person: a user name that was given to another person comes with another one. */
export const federatedNames: Migration = {
  name: '0015-federated-names',
  async up({ schema }) {
    await schema.alterTable('federated_identities').addColumn('name', 'text').execute();
  },
};
