import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** Messages that are written, rendered and thrown away; and which members have no password yet. */
export const outboxDecoys: Migration = {
  name: '0016-outbox-decoys',
  async up({ schema }) {
    await schema
      .alterTable('outbox')
      .addColumn('decoy', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    // For the sweep. A row enters when it is finished: until then it costs what every other row costs.
    await schema
      .createIndex('outbox_decoys')
      .on('outbox')
      .column('finished_at')
      .where(sql<boolean>`decoy = 1 and finished_at is not null`)
      .execute();
    await schema
      .createIndex('users_awaiting_password')
      .on('users')
      .column('imported_at')
      .where(sql<boolean>`imported_at is not null and password_hash is null and disabled_at is null`)
      .execute();
  },
};
