import type { Migration } from './migration.ts';

/** Fields of users that are standard claims, and the time zone of the browser in which a sign-up began. */
export const standardClaims: Migration = {
  name: '0027-standard-claims',
  async up({ schema }) {
    const names = ['preferred_username', 'zoneinfo', 'nickname', 'middle_name', 'website', 'profile_url'];
    for (const name of names) await schema.alterTable('users').addColumn(name, 'text').execute();
    await schema.createIndex('users_username').unique().on('users').column('preferred_username').execute();
    await schema.alterTable('sign_ups').addColumn('zoneinfo', 'text').execute();
  },
};
