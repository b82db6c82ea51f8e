import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** The few memberships with a pause, by the end of what is paid: a pause may have begun long ago. */
export const begunPauses: Migration = {
  name: '0041-begun-pauses',
  async up({ executor }) {
    await sql`create index memberships_pause on memberships (paid_until) where pause is not null`.execute(executor);
  },
};
