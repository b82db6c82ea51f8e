import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createBillingModule, createStripe, listEntitlements } from '../../server/billing/index.ts';
import { createCustomerAtOnce } from '../../server/billing/jobs/new-customers.ts';
import { addBillingTask } from '../../server/billing/jobs/task-store.ts';
import type { User } from '../../server/users/index.ts';
import { begin, codeFor, member, newAddress, newPassword } from '../sign-up/steps.ts';
import { cliOf } from '../support/cli.ts';
import { backends } from '../support/stores.ts';
import { stripeKeys } from '../support/stripe.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Shop, startShop } from './steps.ts';

const minuteMs = 60_000;

describe.each(backends)('customers and trials of new members on $name', (backend) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(backend, { SIGN_UP_LIMIT_ADDRESS: '100000' });
  });
  afterAll(() => shop?.close());

  async function userBy(email: string): Promise<User> {
    const user = await member(shop.foyer, email);
    if (!user) throw new Error(`${email} is no member`);
    return user;
  }
  /** What Stripe has about a member, read past the product. */
  async function atStripe({ id }: User) {
    const client = shop.stripe.client();
    const { data } = await client.customers.list({ limit: 100 });
    const customers = data.filter(({ metadata }) => metadata.foyer_user === id);
    const lists = await Promise.all(customers.map((customer) => client.subscriptions.list({ customer: customer.id })));
    const trials = lists.flatMap((list) =>
      list.data.map(({ status, trial_end, start_date }) => [status, ((trial_end ?? 0) - start_date) / 86_400]),
    );
    return { customers: customers.length, trials };
  }
  const once = (days: number) => ({ customers: 1, trials: [['trialing', days]] });
  const tasks = async ({ id }: User) => {
    const { db } = shop.foyer.stores.database;
    return db.selectFrom('billingTasks').select(['kind', 'attempts']).where('userId', '=', id).execute();
  };
  async function signUpByApi(email = newAddress()): Promise<string> {
    const call = async (operation: string, body: object) =>
      (await shop.foyer.browser().postJson(`/identity/${operation}`, body)).json() as Promise<{ flow: string }>;
    const names = { given_name: 'Ida', family_name: 'Sommer' };
    const { flow } = await call('signUp', { email, password: newPassword, ...names });
    await call('confirmSignUp', { flow, code: await codeFor(shop.foyer, email) });
    return email;
  }

  it('A sign-up by the JSON API alone leads to one customer with a trial of 7 days and its entitlements', async () => {
    const user = await userBy(await signUpByApi());
    expect(await tasks(user)).toEqual([{ kind: 'ensure-customer', attempts: 0 }]);
    await shop.membership.work();
    expect(await atStripe(user)).toEqual(once(7));
    expect(await tasks(user)).toEqual([]);
    const { catalogue } = shop.membership;
    expect(listEntitlements(await userBy(user.email), catalogue, shop.foyer.deps.now())).toEqual([
      'showcase:1',
      'shortlist',
      'messages',
    ]);
  });

  it('A page whose connection closes after the code leads to the same, without another request', async () => {
    const [browser, email] = [shop.foyer.browser(), newAddress()];
    const code = await begin(shop.foyer, browser, email);
    await browser.post('/signup/emailCaptured', { code });
    const user = await userBy(email);
    await shop.membership.work();
    expect(await atStripe(user)).toEqual(once(7));
  });

  it('A confirmation at the sign-in has the 30 days of the post-signup flow', async () => {
    const email = newAddress();
    await begin(shop.foyer, shop.foyer.browser(), email);
    const browser = shop.foyer.browser();
    await browser.post('/sign-in', { username: email, password: newPassword });
    await browser.post('/verify-code', { code: await codeFor(shop.foyer, email) });
    const user = await userBy(email);
    await shop.membership.work();
    expect(await atStripe(user)).toEqual(once(30));
  });

  it('A customer that Stripe did not create is tried again a minute later, and created once', async () => {
    const user = await userBy(await signUpByApi());
    shop.stripe.fault('unreachable', (method, path) => method === 'POST' && path === '/v1/customers');
    await shop.membership.work();
    expect(await atStripe(user)).toEqual({ customers: 0, trials: [] });
    expect(await tasks(user)).toEqual([{ kind: 'ensure-customer', attempts: 1 }]);
    await shop.membership.work();
    expect(await atStripe(user)).toEqual({ customers: 0, trials: [] });
    shop.passTime(minuteMs);
    await shop.membership.work();
    expect(await atStripe(user)).toEqual(once(7));
    expect(await tasks(user)).toEqual([]);
  });

  it('A customer whose answer was lost is not created twice', async () => {
    const user = await userBy(await signUpByApi());
    shop.stripe.fault('lost', (method, path) => method === 'POST' && path === '/v1/customers');
    await shop.membership.work();
    expect(await tasks(user)).toEqual([{ kind: 'ensure-customer', attempts: 1 }]);
    shop.passTime(minuteMs);
    await shop.membership.work();
    expect(await atStripe(user)).toEqual(once(7));
  });

  it('A page and the jobs of two processes at the same time create one customer', async () => {
    const [browser, email] = [shop.foyer.browser(), newAddress()];
    await browser.post('/signup/emailCaptured', { code: await begin(shop.foyer, browser, email) });
    const user = await userBy(email);
    const { deps } = shop.membership;
    const stripe = createStripe({ secretKey: stripeKeys.secretKey, apiUrl: shop.stripe.url });
    const other = createBillingModule({ ...deps, stripe });
    const [page] = await Promise.all([
      browser.get('/signup/verifiedCode'),
      shop.membership.work(),
      other.work(),
      createCustomerAtOnce(deps, user.id),
    ]);
    expect(page.status).toBe(200);
    expect(await atStripe(user)).toEqual(once(7));
    expect(await tasks(user)).toEqual([]);
  });

  it('A running Foyer creates the customer right after the code', async () => {
    shop.membership.start();
    try {
      const user = await userBy(await signUpByApi());
      await waitFor(async () => expect(await tasks(user)).toEqual([]));
      expect(await atStripe(user)).toEqual(once(7));
    } finally {
      await shop.membership.stop();
    }
  });

  it('A member whose page was faster costs the job no request to Stripe', async () => {
    const [browser, email] = [shop.foyer.browser(), newAddress()];
    await browser.post('/signup/emailCaptured', { code: await begin(shop.foyer, browser, email) });
    await browser.get('/signup/verifiedCode');
    const user = await userBy(email);
    const seen: string[] = [];
    shop.stripe.observe(({ method, path }) => seen.push(`${method} ${path}`));
    await createCustomerAtOnce(shop.membership.deps, user.id);
    expect([seen, await tasks(user)]).toEqual([[], []]);
  });

  it('A decision to cancel is shown while the customer is still to be created', async () => {
    const user = await userBy(await signUpByApi());
    const cancel = { kind: 'cancel-later', userId: user.id, customerId: null } as const;
    const { database } = shop.foyer.stores;
    await database.transaction((trx) => addBillingTask(trx, cancel, shop.foyer.deps.now() - minuteMs));
    expect((await tasks(user)).map(({ kind }) => kind).sort()).toEqual(['cancel-later', 'ensure-customer']);
    expect((await shop.membership.getMembership(user.id))?.noted).toBe('cancel');
    await shop.membership.work();
  });

  it('The command user add creates a customer with --trial alone', async () => {
    const cli = cliOf(shop.foyer, {
      ...shop.stripe.environment(),
      PLANS_FILE: shop.foyer.deps.config.PLANS_FILE ?? '',
    });
    const add = (...more: string[]) =>
      cli('user', 'add', '--password', newPassword, '--verified', '--json', '--email', ...more);
    const [plain, tried] = [newAddress(), newAddress()];
    expect((await add(plain)).code).toBe(0);
    expect((await add(tried, '--trial')).code).toBe(0);
    await shop.membership.work();
    expect(await atStripe(await userBy(plain))).toEqual({ customers: 0, trials: [] });
    expect(await atStripe(await userBy(tried))).toEqual(once(30));
  });

  it('The command user import creates customers of new confirmed members with --trial alone', async () => {
    const { PLANS_FILE = '', DATA_DIR } = shop.foyer.deps.config;
    const cli = cliOf(shop.foyer, { ...shop.stripe.environment(), PLANS_FILE });
    const [plain, tried, unconfirmed] = [newAddress(), newAddress(), newAddress()];
    const load = async (rows: { email: string; email_verified: boolean }[], ...more: string[]) => {
      const file = join(DATA_DIR, 'members.json');
      writeFileSync(file, JSON.stringify(rows.map((row) => ({ sub: row.email.replace('@', '-'), ...row }))));
      return cli('user', 'import', file, '--json', ...more);
    };
    expect(await load([{ email: plain, email_verified: true }])).toMatchObject({ code: 0 });
    const rows = [
      { email: plain, email_verified: true },
      { email: tried, email_verified: true },
      { email: unconfirmed, email_verified: false },
    ];
    expect(await load(rows, '--trial', '--dry-run')).toMatchObject({ code: 0 });
    expect(await load(rows, '--trial')).toMatchObject({ code: 0 });
    await shop.membership.work();
    expect(await atStripe(await userBy(plain))).toEqual({ customers: 0, trials: [] });
    expect(await atStripe(await userBy(tried))).toEqual(once(30));
    expect(await atStripe(await userBy(unconfirmed))).toEqual({ customers: 0, trials: [] });
  });

  it('The option --trial is refused while no plans are sold', async () => {
    const cli = cliOf(shop.foyer, { SANDBOX: 'false', SEARCH_APP_URL: 'http://127.0.0.1:9/search' });
    const run = await cli('user', 'add', '--password', newPassword, '--trial', '--email', newAddress());
    expect(run.code).toBe(1);
    expect(run.err).toContain('--trial: no plans are sold');
  });
});
