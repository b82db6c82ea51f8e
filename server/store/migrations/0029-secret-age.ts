import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** The creation time of a client secret. That of a present one is unknown: it is at most as old as its client. */
export const secretAge: Migration = {
  name: '0029-secret-age',
  async up({ schema, executor }) {
    await schema.alterTable('clients').addColumn('secret_created_at', 'bigint').execute();
    await sql`update clients set secret_created_at = created_at where secret_hash is not null`.execute(executor);
  },
};
