import type { Migration } from './migration.ts';

/** Imported users: the time of the import, and the origin of their password hashes. */
export const importedMembers: Migration = {
  name: '0011-imported-members',
  async up({ schema }) {
    await schema.alterTable('users').addColumn('imported_at', 'bigint').execute();
    await schema.alterTable('users').addColumn('password_profile', 'text').execute();
    // A partial index: only users whose hash is still to be replaced.
    await schema
      .createIndex('users_password_profile')
      .on('users')
      .column('password_profile')
      .where('password_profile', 'is not', null)
      .execute();
  },
};
