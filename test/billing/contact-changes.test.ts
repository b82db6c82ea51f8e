import { diffWithStripe, reconcileAll } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { moveTo, undo, undoToken } from '../account/contact/steps.ts';
import type { Browser } from '../support/browser.ts';
import { cliOf } from '../support/cli.ts';
import { backends } from '../support/stores.ts';
import { dayMs, type Shop, startShop } from './steps.ts';

const minuteMs = 60_000;

describe.each(backends)('changed personal data at Stripe, on $name', (backend) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(backend, { GUESS_LIMIT_ADDRESS: '1000' });
  });
  afterAll(() => shop?.close());

  const member = async (email: string): Promise<{ user: User; browser: Browser; customer: string }> => {
    const user = await shop.foyer.addUser({ email, givenName: 'Ada', familyName: 'Lovelace', locale: 'en' });
    const { customerId } = await shop.membership.ensure(user, 7);
    return { user, browser: await shop.foyer.signedIn(user), customer: customerId ?? '' };
  };
  const atStripe = async (customer: string) => {
    const found = await shop.stripe.client().customers.retrieve(customer);
    if (found.deleted) throw new Error('the customer is gone');
    return [found.email, found.name, found.preferred_locales];
  };
  const rename = (browser: Browser, given: string, family = 'Lovelace') =>
    browser.post('/settings/name', { given_name: given, family_name: family });
  const work = async () => {
    shop.passTime(minuteMs);
    await shop.membership.work();
  };
  const isUpdate = (method: string, path: string) => method === 'POST' && /^\/v1\/customers\/\w+$/.test(path);
  const differences = async ({ id }: User) =>
    (await diffWithStripe(shop.membership.deps, { pauseMs: 0 })).left
      .filter(({ userId, kind }) => userId === id && kind === 'customer details')
      .map(({ detail }) => detail);

  it('A changed name and language reach the customer at Stripe with the next minute job', async () => {
    const { browser, customer } = await member(`name@example.com`);
    await rename(browser, 'Augusta', 'King');
    await browser.post('/settings/profile', { gender: '0', locale: 'de' });
    await work();
    expect(await atStripe(customer)).toEqual([`name@example.com`, 'Augusta King', ['de']]);
  });

  it('A name and an address that an operator changes by foyer user update reach the customer at Stripe', async () => {
    const { user, customer } = await member('operator@example.com');
    const cli = cliOf(shop.foyer, shop.stripe.environment());
    const update = (...options: string[]) => cli('user', 'update', user.id, ...options);
    const run = await update('--set', 'given_name=Augusta', 'family_name=King', '--email', 'renamed@example.com');
    expect(run).toMatchObject({ code: 0, err: '' });
    await work();
    expect(await atStripe(customer)).toEqual(['renamed@example.com', 'Augusta King', ['en']]);
    expect(await differences(user)).toEqual([]);
  });

  it('The language of the footer reaches the customer at Stripe', async () => {
    const { browser, customer } = await member(`footer@example.com`);
    await browser.post('/language', { lang: 'fr', redirect: '/settings' });
    await work();
    expect((await atStripe(customer))[2]).toEqual(['fr']);
  });

  it('A changed address reaches the customer, its undoing too, and the next invoice has the last one', async () => {
    const old = `old@example.com`;
    const { user, browser, customer } = await member(old);
    await shop.saveCard(user);
    await shop.buy(user, 'm-99');
    await moveTo(shop.foyer, browser, `new@example.com`);
    await work();
    expect((await atStripe(customer))[0]).toBe(`new@example.com`);
    expect((await undo(shop.foyer.browser(), await undoToken(shop.foyer, old))).status).toBe(303);
    await work();
    expect((await atStripe(customer))[0]).toBe(old);
    shop.passTime(30 * dayMs + 2 * 60 * minuteMs);
    const [renewal] = (await shop.stripe.client().invoices.list({ customer, limit: 1 })).data;
    expect([renewal?.billing_reason, renewal?.customer_email]).toEqual(['subscription_cycle', old]);
  });

  it('Several changes while Stripe is away become one update with the last data', async () => {
    const { browser, customer } = await member(`away@example.com`);
    shop.stripe.fault('error', isUpdate);
    await rename(browser, 'One');
    await work();
    expect((await atStripe(customer))[1]).toBe('Ada Lovelace');
    await rename(browser, 'Two');
    await rename(browser, 'Three');
    await browser.post('/settings/profile', { gender: '0', locale: 'nl' });
    const updates: string[] = [];
    shop.stripe.observe(({ method, path }) => isUpdate(method, path) && updates.push(path));
    await work();
    expect(updates).toEqual([`/v1/customers/${customer}`]);
    expect((await atStripe(customer)).slice(1)).toEqual(['Three Lovelace', ['nl']]);
  });

  it('A change while Stripe is asked about the one before is written by the next job', async () => {
    const { browser, customer } = await member(`race@example.com`);
    await rename(browser, 'First');
    let second: Promise<unknown> | undefined;
    shop.stripe.observe(({ method, path }) => {
      if (isUpdate(method, path) && path.endsWith(customer)) second ??= rename(browser, 'Second');
    });
    await work();
    await second;
    await work();
    expect((await atStripe(customer))[1]).toBe('Second Lovelace');
  });

  it('Other data at Stripe are a difference, which reconcile mends', async () => {
    const { user, customer } = await member(`diff@example.com`);
    expect(await differences(user)).toEqual([]);
    await shop.stripe.client().customers.update(customer, { name: 'Another Name', email: 'other@example.com' });
    expect(await differences(user)).toEqual(['email name']);
    await reconcileAll(shop.membership.deps, { pauseMs: 0 });
    expect(await differences(user)).toEqual([]);
    expect((await atStripe(customer))[1]).toBe('Ada Lovelace');
  });
});
