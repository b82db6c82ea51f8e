import type { SchemaModule } from 'kysely';
import type { Migration } from './migration.ts';

/** Sign-ups: unconfirmed ones, all attributes of a user, the user record, the ledger of terms, partner deals. */
export const signUp: Migration = {
  name: '0006-sign-up',
  async up({ schema }) {
    await addAttributes(schema);
    await createSignUps(schema);
    await schema
      .createTable('terms_acceptances')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('version', 'integer', (column) => column.notNull())
      .addColumn('label', 'text', (column) => column.notNull())
      .addColumn('lang', 'text', (column) => column.notNull())
      .addColumn('text_hash', 'text', (column) => column.notNull())
      .addColumn('ip', 'text')
      .addColumn('user_agent', 'text')
      .addColumn('client_id', 'text')
      .addColumn('accepted_at', 'bigint', (column) => column.notNull())
      .execute();
    await schema
      .createIndex('terms_acceptances_user')
      .on('terms_acceptances')
      .columns(['user_id', 'accepted_at'])
      .execute();
    await schema
      .createTable('partner_deals')
      .addColumn('email', 'text', (column) => column.primaryKey())
      .addColumn('tier', 'integer', (column) => column.notNull())
      .addColumn('imported_at', 'bigint', (column) => column.notNull())
      .addColumn('user_id', 'text')
      .addColumn('used_at', 'bigint')
      .execute();
  },
};

async function addAttributes(schema: SchemaModule): Promise<void> {
  for (const name of ['birthdate', 'address', 'company_name', 'job_title', 'preferred_language']) {
    await schema.alterTable('users').addColumn(name, 'text').execute();
  }
  await schema
    .alterTable('users')
    .addColumn('gender', 'text', (column) => column.notNull().defaultTo('0'))
    .execute();
  await schema
    .alterTable('users')
    .addColumn('newsletter', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await schema
    .alterTable('users')
    .addColumn('password_epoch', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await schema.alterTable('users').addColumn('signed_in_epoch', 'integer').execute();
  await schema
    .createTable('user_records')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('stripe_customer_id', 'text')
    .addColumn('about', 'text', (column) => column.notNull())
    .addColumn('additional_attributes', 'text', (column) => column.notNull())
    .addColumn('image_name', 'text')
    .addColumn('notification_setting', 'text', (column) => column.notNull())
    .addColumn('social_media_links', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('total_rewards', 'text', (column) => column.notNull())
    .addColumn('company_category', 'text')
    .addColumn('user_type', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('user_records_user').unique().on('user_records').column('user_id').execute();
}

async function createSignUps(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('sign_ups')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('given_name', 'text', (column) => column.notNull())
    .addColumn('family_name', 'text', (column) => column.notNull())
    .addColumn('password_hash', 'text', (column) => column.notNull())
    .addColumn('locale', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('plan_key', 'text')
    .addColumn('terms', 'text', (column) => column.notNull())
    .addColumn('errand', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('user_id', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('sign_ups_email').on('sign_ups').columns(['email', 'created_at']).execute();
  await schema.createIndex('sign_ups_expires_at').on('sign_ups').column('expires_at').execute();
}
