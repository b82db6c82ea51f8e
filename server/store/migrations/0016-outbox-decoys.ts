import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** Messages that are written, rendered and discarded; and the users without a password. */
export const outboxDecoys: Migration = {
  name: '0016-outbox-decoys',
  async up({ schema }) {
    await schema
      .alterTable('outbox')
      .addColumn('decoy', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    // For the sweep. A row enters the index only when it is finished, so that waiting rows cost nothing extra.
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
