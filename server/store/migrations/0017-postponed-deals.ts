import type { Migration } from './migration.ts';

/** When a member who does not want a partner's plan now is asked again. */
export const postponedDeals: Migration = {
  name: '0017-postponed-deals',
  async up({ schema }) {
    await schema.alterTable('users').addColumn('deal_again_at', 'bigint').execute();
  },
};
