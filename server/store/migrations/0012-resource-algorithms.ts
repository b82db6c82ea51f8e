import type { Migration } from './migration.ts';

/** How the tokens of a resource server are signed: not every library that checks them can do ES256. */
export const resourceAlgorithms: Migration = {
  name: '0012-resource-algorithms',
  async up({ schema }) {
    await schema
      .alterTable('resource_servers')
      .addColumn('signing_alg', 'text', (column) => column.notNull().defaultTo('ES256'))
      .execute();
  },
};
