import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** The state of a purchase that the user did not complete was called given-up. */
export const abandonedPurchases: Migration = {
  name: '0021-abandoned-purchases',
  async up({ executor }) {
    await sql`update purchases set state = 'abandoned' where state = 'given-up'`.execute(executor);
  },
};
