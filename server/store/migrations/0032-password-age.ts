import type { Migration } from './migration.ts';

/** When a password was last changed. That of a present one is unknown. */
export const passwordAge: Migration = {
  name: '0032-password-age',
  async up({ schema }) {
    await schema.alterTable('users').addColumn('password_changed_at', 'bigint').execute();
  },
};
