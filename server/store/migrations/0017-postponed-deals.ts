import type { Migration } from './migration.ts';

/** When a user who declined a partner's plan for now is asked again. */
export const postponedDeals: Migration = {
  name: '0017-postponed-deals',
  async up({ schema }) {
    await schema.alterTable('users').addColumn('deal_again_at', 'bigint').execute();
  },
};
