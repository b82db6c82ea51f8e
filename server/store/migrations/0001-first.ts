import type { SchemaModule } from 'kysely';
import type { Migration } from './migration.ts';

/** Users, client apps, signing keys, the OpenID Provider's lasting records, facts about the database itself. */
export const first: Migration = {
  name: '0001-first',
  async up({ schema }) {
    await createUsers(schema);
    await createOidc(schema);
    await schema
      .createTable('clients')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('metadata', 'text', (column) => column.notNull())
      .addColumn('secret_hash', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .execute();
    await schema
      .createTable('signing_keys')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('alg', 'text', (column) => column.notNull())
      .addColumn('sealed_jwk', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('activates_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint')
      .execute();
    await schema
      .createTable('meta')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('value', 'text', (column) => column.notNull())
      .execute();
  },
};

async function createUsers(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('users')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('email_verified', 'integer', (column) => column.notNull())
    .addColumn('phone', 'text')
    .addColumn('phone_verified', 'integer', (column) => column.notNull())
    .addColumn('password_hash', 'text')
    .addColumn('given_name', 'text', (column) => column.notNull())
    .addColumn('family_name', 'text', (column) => column.notNull())
    .addColumn('locale', 'text', (column) => column.notNull())
    .addColumn('accepted_tos_version', 'integer')
    .addColumn('accepted_tos_at', 'bigint')
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('plan_id', 'text')
    .addColumn('picture', 'text')
    .addColumn('disabled_at', 'bigint')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('users_email').unique().on('users').column('email').execute();
  // Both databases allow any number of users without a phone: null never equals null.
  await schema.createIndex('users_phone').unique().on('users').column('phone').execute();
}

async function createOidc(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('oidc')
    .addColumn('model', 'text', (column) => column.notNull())
    .addColumn('id_hash', 'text', (column) => column.notNull())
    .addColumn('payload', 'text', (column) => column.notNull())
    .addColumn('grant_id', 'text')
    .addColumn('client_id', 'text')
    .addColumn('account_id', 'text')
    .addColumn('foyer_session', 'text')
    .addColumn('consumed_at', 'bigint')
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('oidc_pkey', ['model', 'id_hash'])
    .execute();
  await schema.createIndex('oidc_grant_id').on('oidc').column('grant_id').execute();
  await schema.createIndex('oidc_account_id').on('oidc').column('account_id').execute();
  // The session comes first, so that the index serves both "all grants of this session" and "this client's grant in
  // this session".
  await schema.createIndex('oidc_foyer_session').on('oidc').columns(['foyer_session', 'client_id', 'model']).execute();
  await schema.createIndex('oidc_expires_at').on('oidc').column('expires_at').execute();
}
