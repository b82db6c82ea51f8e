import type { Migration } from './migration.ts';

/** A paid plan that begins with free days: the plan, and their end, which stays when they are over. */
export const planTrials: Migration = {
  name: '0040-plan-trials',
  async up({ schema }) {
    await schema.alterTable('memberships').addColumn('tried_plan_id', 'text').execute();
    await schema.alterTable('memberships').addColumn('tried_until', 'bigint').execute();
    await schema.createIndex('memberships_tried').on('memberships').column('tried_until').execute();
  },
};
