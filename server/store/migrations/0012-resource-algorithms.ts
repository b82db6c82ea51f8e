import type { Migration } from './migration.ts';

/** The signing algorithm of a resource server's tokens: not every library supports ES256. */
export const resourceAlgorithms: Migration = {
  name: '0012-resource-algorithms',
  async up({ schema }) {
    await schema
      .alterTable('resource_servers')
      .addColumn('signing_alg', 'text', (column) => column.notNull().defaultTo('ES256'))
      .execute();
  },
};
