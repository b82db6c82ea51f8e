import type { Insertable } from 'kysely';
import { type Schema, uuidv7 } from '../../../server/store/index.ts';
import type { User } from '../../../server/users/index.ts';
import type { TestFoyer } from '../../support/foyer.ts';
import {
  toClientId,
  toE164,
  toNormalisedEmail,
  toPlanId,
  toProviderId,
  toSealedText,
  toSessionIdHash,
  toSha256,
  toStripeCustomerId,
  toStripeInvoiceId,
} from '../../support/ids.ts';
import { dayMs, marks, membershipRow } from './steps.ts';

const savedCard = { paymentMethodId: 'pm_marked', brand: 'visa', lastFour: '1881', expMonth: 12, expYear: 2030 };

/** One row of each table, with all its columns, so that a new column is not forgotten here. */
type Rows = { [Table in keyof Schema]?: Insertable<Schema[Table]> };

/** Rows of a user: their profile, consents and second factors. */
function listProfileRows({ id, email }: User, at: number): Rows {
  const { ip, userAgent, secret } = marks;
  return {
    user_records: {
      id: `record-${id}`,
      user_id: id,
      stripe_customer_id: null,
      about: 'Restores chairs',
      status: 'active',
      additional_attributes: '{"a":1}',
      image_name: null,
      notification_setting: '{}',
      social_media_links: '{}',
      total_rewards: '5',
      company_category: null,
      user_type: null,
      created_at: at,
      updated_at: at,
    },
    terms_acceptances: {
      id: `terms-${id}`,
      user_id: id,
      version: 1,
      label: '1.0.0',
      lang: 'en',
      text_hash: toSha256('hash'),
      ip,
      user_agent: userAgent,
      client_id: toClientId('some-client'),
      accepted_at: at,
    },
    partner_deals: { email, tier: 2, imported_at: at, user_id: id, used_at: at },
    totp_authenticators: { user_id: id, sealed_secret: toSealedText(secret), last_step: 1, created_at: at },
    recovery_codes: { id: `code-${id}`, user_id: id, code_hash: toSha256(secret), created_at: at, used_at: null },
    remembered_devices: {
      id: `device-${id}`,
      user_id: id,
      secret_hash: toSha256(secret),
      password_epoch: 0,
      user_agent: userAgent,
      ip,
      created_at: at,
      last_used_at: at,
      expires_at: at + dayMs,
    },
  };
}

/** Rows of a user: their sign-in methods and addresses. */
function listAccountRows({ id, email }: User, at: number): Rows {
  const { ip, userAgent, secret, old } = marks;
  return {
    factor_resets: {
      id: `reset-${id}`,
      user_id: id,
      token_hash: toSha256(secret),
      state: 'cancelled',
      requested_at: at,
      due_at: at,
      ended_at: at,
    },
    passkeys: {
      id: `passkey-${id}`,
      user_id: id,
      name: 'Marked MacBook',
      public_key: secret,
      counter: 0,
      transports: 'internal',
      aaguid: 'a',
      backed_up: 1,
      created_at: at,
      last_used_at: null,
    },
    federated_identities: {
      id: `link-${id}`,
      user_id: id,
      kind: 'google',
      issuer: 'https://accounts.google.com',
      subject: `at-${id}`,
      provider: toProviderId('google'),
      email: toNormalisedEmail('marked@gmail.example'),
      name: 'Marked Name',
      linked_at: at,
      last_used_at: null,
    },
    email_changes: {
      id: `change-${id}`,
      user_id: id,
      old_email: toNormalisedEmail(`${id}-${old}`),
      new_email: email,
      undo_hash: toSha256(secret),
      changed_at: at,
      undo_until: at + dayMs,
      undone_at: null,
    },
    notifications: {
      id: `note-${id}`,
      user_id: id,
      title: 'Marked note',
      description: '',
      category: 'x',
      details: '{}',
      status: 'unread',
      created_at: at,
      updated_at: at,
    },
    sign_ups: {
      id: `sign-up-${id}`,
      email,
      given_name: 'Marked',
      family_name: '',
      password_hash: secret,
      locale: 'en',
      source: 'general',
      plan_key: null,
      terms: JSON.stringify({
        version: 1,
        label: '1.0.0',
        lang: 'en',
        textHash: 'hash',
        clientId: null,
        ip,
        userAgent,
      }),
      errand: '',
      state: 'confirmed',
      user_id: id,
      created_at: at,
      updated_at: at,
      expires_at: at + 30 * dayMs,
    },
  };
}

/** Rows of a user: their plan and payments. */
function listBillingRows({ id }: User, at: number): Rows {
  return {
    memberships: membershipRow(id, at, { status: 'canceled', card: JSON.stringify(savedCard) }),
    purchases: {
      id: `purchase-${id}`,
      user_id: id,
      open_for: id,
      plan_id: toPlanId('10'),
      // Not as this release stores it: that must not keep a user from exporting or erasing an account.
      promotion: '{"typed":"marked10"}',
      state: 'open',
      attempt: 0,
      charge: null,
      invoice_id: null,
      created_at: at,
      updated_at: at,
    },
    // What stays of it must not lead to the member.
    orders: {
      id: uuidv7(),
      user_id: id,
      invoice_id: toStripeInvoiceId(`in_${uuidv7()}`),
      invoice_number: null,
      invoice_url: null,
      customer_id: toStripeCustomerId('cus_marked'),
      subscription_id: null,
      plan_id: toPlanId('10'),
      order_purchase: 'plan',
      order_type: 'upgrade',
      currency: 'usd',
      paid_cents: 9_900,
      used_credit_cents: 0,
      discount_cents: 0,
      recurring_discount_cents: 0,
      voucher: null,
      refunded_cents: 0,
      disputed_at: null,
      card: '{"brand":"visa","lastFour":"1881"}',
      validity_days: 30,
      renews_at: null,
      ordered_at: at,
      created_at: at,
    },
    trial_claims: { kind: 'email', value_hash: uuidv7(), user_id: id, claimed_at: at },
    told_members: { user_id: id, about: 'trial-ends', told_at: at },
    billing_tasks: {
      id: `task-${id}`,
      kind: 'keep',
      user_id: id,
      customer_id: null,
      attempts: 0,
      last_error: null,
      plan_id: null,
      next_attempt_at: at,
      created_at: at,
    },
  };
}

/** Rows of a user: their client apps. */
function listClientRows({ id }: User, at: number): Rows {
  const { secret } = marks;
  return {
    client_sessions: {
      sid: `sid-${id}`,
      foyer_session: toSessionIdHash(`session-${id}`),
      client_id: toClientId('some-client'),
      account_id: id,
      created_at: at,
      expires_at: at + 30 * dayMs,
    },
    connected_apps: {
      user_id: id,
      client_id: toClientId('some-client'),
      scopes: 'openid email',
      resources: '{}',
      created_at: at,
      last_used_at: at,
    },
    oidc: {
      model: 'Grant',
      id_hash: toSha256(`grant-${id}`),
      payload: toSealedText(secret),
      grant_id: null,
      client_id: toClientId('some-client'),
      account_id: id,
      foyer_session: null,
      offline: 1,
      consumed_at: null,
      expires_at: at + 30 * dayMs,
    },
  };
}

/**
 * Stores something of a user in every table that holds anything of users.
 * @returns the tables
 */
export async function rowsEverywhere(foyer: TestFoyer, user: User): Promise<Set<keyof Schema>> {
  const { database, outbox, now } = foyer.deps;
  const { id, email } = user;
  const at = now();
  const rows: Rows = {
    ...listProfileRows(user, at),
    ...listAccountRows(user, at),
    ...listBillingRows(user, at),
    ...listClientRows(user, at),
  };
  await database.transaction(async (trx) => {
    for (const [table, row] of Object.entries(rows))
      await trx
        .insertInto(table as 'meta')
        .values(row as never)
        .execute();
    // A refresh token hangs on its grant alone.
    await trx
      .insertInto('oidc')
      .values({
        model: 'RefreshToken',
        id_hash: toSha256(`refresh-${id}`),
        payload: toSealedText(marks.secret),
        grant_id: toSha256(`grant-${id}`),
        client_id: null,
        account_id: null,
        foyer_session: null,
        offline: 0,
        consumed_at: null,
        expires_at: at + 30 * dayMs,
      })
      .execute();
    const later = { groupId: `held-${id}` };
    const values = { givenName: 'Marked', atMs: at };
    await outbox.add(trx, { channel: 'mail', to: email, template: 'password-changed', lang: 'en', values, ...later });
    await outbox.add(trx, { channel: 'sms', to: toE164(user.phone ?? ''), text: 'A marked text', ...later });
    const note = { title: 'Marked', description: 'Marked', category: 'x' };
    await outbox.add(trx, { channel: 'notification', userId: id, ...note, ...later });
  });
  return new Set([...(Object.keys(rows) as (keyof Schema)[]), 'users', 'outbox']);
}
