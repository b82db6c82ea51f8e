import { type Row, type Schema, uuidv7 } from '../../../server/store/index.ts';
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
  change: Partial<Row<'memberships'>> = {},
): Row<'memberships'> {
  const thing = uuidv7().replaceAll('-', '');
  return {
    userId: toUserId(userId),
    customerId: toStripeCustomerId(`cus_${thing}`),
    customerAskedAt: at,
    trialDays: 7,
    subscriptionId: toStripeSubscriptionId(`sub_${thing}`),
    generation: 0,
    status: 'active',
    pricedPlanId: toPlanId('10'),
    periodStart: at,
    periodEnd: at + 30 * dayMs,
    trialEnd: null,
    cancelAtPeriodEnd: 0,
    nextPlanId: null,
    nextSeats: null,
    seats: null,
    triedPlanId: null,
    triedUntil: null,
    paidPlanId: toPlanId('10'),
    paidUntil: at + 30 * dayMs,
    basePlanId: null,
    card: null,
    discount: null,
    customerDiscount: null,
    unpaid: null,
    unpaidSince: null,
    pending: null,
    price: null,
    nextCharge: null,
    balanceCents: 0,
    contact: null,
    pause: null,
    giftPlanId: null,
    giftUntil: null,
    contactAt: null,
    version: 1,
    syncedAt: at,
    createdAt: at,
    updatedAt: at,
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
  foyer.deps.database.db.selectFrom('accountDeletions').selectAll().where('userId', '=', id).executeTakeFirst();

/** What the last mail about a reset carries. */
export async function cancelToken(foyer: TestFoyer, email: string): Promise<string> {
  const mail = (await foyer.mails(email)).findLast(({ template }) => template === 'factor-reset-asked');
  if (typeof mail?.values.cancelUrl !== 'string') throw new Error(`no link was mailed to ${email}`);
  return new URL(mail.values.cancelUrl).searchParams.get('token') ?? '';
}

/** Every row of every table, as text, by table. */
export async function everyRow(foyer: TestFoyer): Promise<Map<string, string[]>> {
  const db = foyer.deps.database.db.withoutPlugins();
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
