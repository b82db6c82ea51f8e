import type { Migration } from './migration.ts';

/** The pause of a paid plan that its user has asked for. */
export const memberPause: Migration = {
  name: '0035-member-pause',
  async up({ schema }) {
    await schema.alterTable('memberships').addColumn('pause', 'text').execute();
  },
};
