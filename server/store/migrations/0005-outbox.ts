import { sql } from 'kysely';
import type { Migration } from './migration.ts';

const waiting = sql<boolean>`state = 'waiting'`;

/** Mail, SMS and notifications: those that wait, and the delivered notifications. */
export const outbox: Migration = {
  name: '0005-outbox',
  async up({ schema }) {
    await schema
      .createTable('outbox')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('channel', 'text', (column) => column.notNull())
      .addColumn('template', 'text', (column) => column.notNull())
      .addColumn('recipient', 'text', (column) => column.notNull())
      .addColumn('sealed_payload', 'text')
      .addColumn('group_id', 'text')
      .addColumn('group_position', 'integer', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .addColumn('last_error', 'text')
      .addColumn('next_attempt_at', 'bigint', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint')
      .addColumn('finished_at', 'bigint')
      .execute();
    await schema
      .createIndex('outbox_waiting')
      .on('outbox')
      .columns(['channel', 'next_attempt_at', 'id'])
      .where(waiting)
      .execute();
    await schema
      .createIndex('outbox_waiting_groups')
      .on('outbox')
      .columns(['group_id', 'group_position', 'id'])
      .where(waiting)
      .execute();
    await schema.createIndex('outbox_finished_at').on('outbox').column('finished_at').execute();
    await schema
      .createTable('outbox_deduplication')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('message_id', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .execute();
    await schema
      .createTable('notifications')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('title', 'text', (column) => column.notNull())
      .addColumn('description', 'text', (column) => column.notNull())
      .addColumn('category', 'text', (column) => column.notNull())
      .addColumn('details', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .execute();
    await schema.createIndex('notifications_user').on('notifications').columns(['user_id', 'created_at']).execute();
  },
};
