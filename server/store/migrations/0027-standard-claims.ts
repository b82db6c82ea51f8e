import type { Migration } from './migration.ts';

/** The username and time zone of users, and the time zone of the browser in which a sign-up began. */
export const standardClaims: Migration = {
  name: '0027-standard-claims',
  async up({ schema }) {
    await schema.alterTable('users').addColumn('preferred_username', 'text').execute();
    await schema.alterTable('users').addColumn('zoneinfo', 'text').execute();
    await schema.createIndex('users_username').unique().on('users').column('preferred_username').execute();
    await schema.alterTable('sign_ups').addColumn('zoneinfo', 'text').execute();
  },
};
