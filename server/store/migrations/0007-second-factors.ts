import type { SchemaModule } from 'kysely';
import type { Migration } from './migration.ts';

/** Second factors, passkeys, remembered devices, changes of the address that can be undone, requested deletions. */
export const secondFactors: Migration = {
  name: '0007-second-factors',
  async up({ schema }) {
    await schema
      .alterTable('users')
      .addColumn('mfa_preference', 'text', (column) => column.notNull().defaultTo('none'))
      .execute();
    await schema.alterTable('users').addColumn('phone_changed_at', 'bigint').execute();
    await createFactors(schema);
    await createPasskeys(schema);
    await createChanges(schema);
  },
};

async function createFactors(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('totp_authenticators')
    .addColumn('user_id', 'text', (column) => column.primaryKey())
    .addColumn('sealed_secret', 'text', (column) => column.notNull())
    .addColumn('last_step', 'bigint', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema
    .createTable('recovery_codes')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('code_hash', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('used_at', 'bigint')
    .execute();
  await schema.createIndex('recovery_codes_user').on('recovery_codes').columns(['user_id', 'code_hash']).execute();
  await schema
    .createTable('remembered_devices')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('secret_hash', 'text', (column) => column.notNull())
    .addColumn('password_epoch', 'integer', (column) => column.notNull())
    .addColumn('user_agent', 'text', (column) => column.notNull())
    .addColumn('ip', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('last_used_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('remembered_devices_user').on('remembered_devices').column('user_id').execute();
  await schema.createIndex('remembered_devices_expires_at').on('remembered_devices').column('expires_at').execute();
  await schema
    .createTable('factor_resets')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('token_hash', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('requested_at', 'bigint', (column) => column.notNull())
    .addColumn('due_at', 'bigint', (column) => column.notNull())
    .addColumn('ended_at', 'bigint')
    .execute();
  await schema.createIndex('factor_resets_user').on('factor_resets').columns(['user_id', 'state']).execute();
  await schema.createIndex('factor_resets_due').on('factor_resets').columns(['state', 'due_at']).execute();
}

async function createPasskeys(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('passkeys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('public_key', 'text', (column) => column.notNull())
    .addColumn('counter', 'bigint', (column) => column.notNull())
    .addColumn('transports', 'text', (column) => column.notNull())
    .addColumn('aaguid', 'text', (column) => column.notNull())
    .addColumn('backed_up', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('last_used_at', 'bigint')
    .execute();
  await schema.createIndex('passkeys_user').on('passkeys').column('user_id').execute();
}

async function createChanges(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('email_changes')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('old_email', 'text', (column) => column.notNull())
    .addColumn('new_email', 'text', (column) => column.notNull())
    .addColumn('undo_hash', 'text', (column) => column.notNull())
    .addColumn('changed_at', 'bigint', (column) => column.notNull())
    .addColumn('undo_until', 'bigint', (column) => column.notNull())
    .addColumn('undone_at', 'bigint')
    .execute();
  await schema.createIndex('email_changes_user').on('email_changes').column('user_id').execute();
  await schema
    .createIndex('email_changes_old_email')
    .on('email_changes')
    .columns(['old_email', 'undo_until'])
    .execute();
  await schema
    .createTable('account_deletions')
    .addColumn('user_id', 'text', (column) => column.primaryKey())
    .addColumn('requested_at', 'bigint', (column) => column.notNull())
    .addColumn('due_at', 'bigint', (column) => column.notNull())
    .addColumn('done_at', 'bigint')
    .execute();
  await schema.createIndex('account_deletions_due').on('account_deletions').columns(['due_at']).execute();
}
