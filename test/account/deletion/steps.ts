import type { Insertable } from 'kysely';
import { type Schema, uuidv7 } from '../../../server/store/index.ts';
import type { User } from '../../../server/users/index.ts';
import type { Browser } from '../../support/browser.ts';
import { type Cli, cliOn } from '../../support/cli.ts';
import type { TestFoyer } from '../../support/foyer.ts';
import { toPlanId, toStripeCustomerId, toStripeSubscriptionId, toUserId } from '../../support/ids.ts';

export const dayMs = 24 * 60 * 60_000;

/** The operator's command, by the product's clock, which tests move. */
export function operatorOf({ deps, stores, url }: TestFoyer, environment: Record<string, string> = {}): Cli {
  const env = { PUBLIC_URL: url, SECRET_KEY: deps.config.SECRET_KEYS.join(), ...environment };
  return cliOn(stores.urls, env, deps.now);
}

export const askToLeave = (browser: Browser, fields: Record<string, string> = {}) =>
  browser.post('/settings/delete-account', { confirm: '1', ...fields });

/** A membership that goes on, as it is stored; override what matters. */
export function membershipRow(
  userId: string,
  at: number,
  change: Partial<Insertable<Schema['memberships']>> = {},
): Insertable<Schema['memberships']> {
  const thing = uuidv7().replaceAll('-', '');
  return {
    user_id: toUserId(userId),
    customer_id: toStripeCustomerId(`cus_${thing}`),
    customer_asked_at: at,
    trial_days: 7,
    subscription_id: toStripeSubscriptionId(`sub_${thing}`),
    generation: 0,
    status: 'active',
    priced_plan_id: toPlanId('10'),
    period_start: at,
    period_end: at + 30 * dayMs,
    trial_end: null,
    cancel_at_period_end: 0,
    next_plan_id: null,
    paid_plan_id: toPlanId('10'),
    paid_until: at + 30 * dayMs,
    base_plan_id: null,
    card: null,
    discount: null,
    unpaid: null,
    unpaid_since: null,
    pending: null,
    version: 1,
    synced_at: at,
    created_at: at,
    updated_at: at,
    ...change,
  };
}

/** A member who has asked to leave. */
export async function leavingMember(foyer: TestFoyer, user?: Parameters<TestFoyer['addUser']>[0]): Promise<User> {
  const member = await foyer.addUser(user);
  const answer = await askToLeave(await foyer.signedIn(member));
  if (answer.headers.get('location') !== '/account-deletion') throw new Error(`asked: ${answer.status}`);
  return member;
}

export const deletionOf = (foyer: TestFoyer, { id }: Pick<User, 'id'>) =>
  foyer.deps.database.db.selectFrom('account_deletions').selectAll().where('user_id', '=', id).executeTakeFirst();

/** What the last mail about a reset carries. */
export async function cancelToken(foyer: TestFoyer, email: string): Promise<string> {
  const mail = (await foyer.mails(email)).findLast(({ template }) => template === 'factor-reset-asked');
  if (typeof mail?.values.cancelUrl !== 'string') throw new Error(`no link was mailed to ${email}`);
  return new URL(mail.values.cancelUrl).searchParams.get('token') ?? '';
}

/** Every row of every table, as text, by table. */
export async function everyRow(foyer: TestFoyer): Promise<Map<string, string[]>> {
  const { db } = foyer.deps.database;
  const rows = new Map<string, string[]>();
  for (const { name } of await db.introspection.getTables()) {
    const found = await db
      .selectFrom(name as keyof Schema)
      .selectAll()
      .execute();
    rows.set(
      name,
      found.map((row) => JSON.stringify(row)),
    );
  }
  return rows;
}

/** Personal data of one user that no other test stores. */
export const marks = {
  ip: '203.0.113.177',
  userAgent: 'Marked Browser 17',
  secret: 'a-secret-that-is-told-nobody',
  old: 'earlier-address@example.net',
};
