import type { Migration } from './migration.ts';

/** Members who come from another service: since when they are here, and whose password hashes were made there. */
export const importedMembers: Migration = {
  name: '0011-imported-members',
  async up({ schema }) {
    await schema.alterTable('users').addColumn('imported_at', 'bigint').execute();
    await schema.alterTable('users').addColumn('password_profile', 'text').execute();
    // Of all members only those whose hash is still to be replaced.
    await schema
      .createIndex('users_password_profile')
      .on('users')
      .column('password_profile')
      .where('password_profile', 'is not', null)
      .execute();
  },
};
