import type { Exchange } from '../../sandbox/stripe/index.ts';
import type { User } from '../../server/users/index.ts';
import type { Browser } from '../support/browser.ts';
import { toPlanId } from '../support/ids.ts';
import { routesOf } from '../support/routes.ts';
import { anyBackend, backends } from '../support/stores.ts';
import { asClient } from './api-steps.ts';
import { wordsOf } from './checkout/shop.ts';
import { cards, dayMs, manyCards, type Shop, startShop } from './steps.ts';

/**
 * Every address that answers a GET, asked by a member in every status that a subscription can have. Nothing may be changed
 * at Stripe: neither by its requests nor in its objects.
 */

type Make = (shop: Shop, user: User) => Promise<void>;

const buy: Make = async (shop, user) => {
  await shop.saveCard(user);
  const bought = await shop.buy(user, 'y-5000');
  if (bought.kind !== 'paid') throw new Error(`not bought: ${bought.kind}`);
};

const downgrade: Make = async (shop, user) => {
  await shop.saveCard(user);
  for (const code of ['m-499', 'm-99']) await shop.buy(user, code);
  if (!(await shop.membership.getMembership(user.id))?.nextPlanId) throw new Error('nothing is scheduled');
};

const subscriptionOf = async (shop: Shop, { id }: User) =>
  (await shop.membership.getMembership(id))?.subscriptionId ?? '';

/** Sets what the stand-in has no way to. */
function setStatus(shop: Shop, status: string, of: (subscription: { id: string; status: string }) => boolean): void {
  const kept = shop.stripe.engine.snapshot() as { objects: { id: string; object: string; status: string }[] };
  for (const one of kept.objects) if (one.object === 'subscription' && of(one)) one.status = status;
  shop.stripe.engine.restore(kept);
}

const inStatus =
  (status: string): Make =>
  async (shop, user) => {
    await buy(shop, user);
    const id = await subscriptionOf(shop, user);
    setStatus(shop, status, (one) => one.id === id);
  };

const paused =
  (reason: string): Make =>
  async (shop, user) => {
    await buy(shop, user);
    shop.passTime(30 * dayMs);
    const id = await subscriptionOf(shop, user);
    if (reason === 'pause_requested')
      shop.stripe.engine.call({ method: 'POST', path: `/v1/subscriptions/${id}/pause` });
    else shop.stripe.engine.pause(id, reason);
  };

const statuses: Record<string, Make> = {
  trialing: async () => {},
  'paused after its trial': async (shop) => shop.passTime(8 * dayMs),
  'active after its trial': async (shop, user) => {
    await shop.saveCard(user);
    shop.passTime(8 * dayMs);
  },
  active: buy,
  'active, to end with its period': async (shop, user) => {
    await buy(shop, user);
    await shop.membership.cancel(user);
  },
  'active, with a scheduled plan': downgrade,
  'active, on a plan that was scheduled': async (shop, user) => {
    await downgrade(shop, user);
    shop.passTime(35 * dayMs);
  },
  'active, with a plan that an earlier release has scheduled': async (shop, user) => {
    await buy(shop, user);
    const metadata = { foyer_next_plan: shop.plan('m-99').id };
    const { subscriptions } = shop.stripe.client();
    await subscriptions.update(await subscriptionOf(shop, user), { cancel_at_period_end: true, metadata });
  },
  past_due: async (shop, user) => {
    await shop.saveCard(user);
    await shop.buy(user, 'm-99');
    const { card } = (await shop.membership.getMembership(user.id)) ?? {};
    shop.stripe.engine.setCardBehaviour(card?.paymentMethodId ?? '', cards.chargeDeclined);
    shop.passTime(30 * dayMs + 60 * 60_000);
  },
  unpaid: inStatus('unpaid'),
  incomplete: inStatus('incomplete'),
  incomplete_expired: inStatus('incomplete_expired'),
  canceled: async (shop, user) => {
    await buy(shop, user);
    shop.stripe.engine.call({ method: 'DELETE', path: `/v1/subscriptions/${await subscriptionOf(shop, user)}` });
  },
  'paused by the operator': paused('pause_requested'),
  'paused, its final payment failed': paused('final_payment_failure'),
  'paused, its first payment failed': paused('first_payment_failure'),
  'paused by Stripe': paused('system'),
  'paused at the end of a trial of its price': paused('trial_end_without_payment_method'),
};

/** What stands for the parameters of an address. */
function addressesOf(shop: Shop, path: string, ids: { customer: string; subscription: string }): string[] {
  const { customer, subscription } = ids;
  const key = shop.plan('m-99').planKey ?? '';
  const fill = (...values: string[]) => values.reduce((filled, value) => filled.replace(/\bx\b/, value), path);
  if (path.startsWith('/customer/coupons/')) return [fill('WELCOME20')];
  if (path.startsWith('/customer/x/subscription')) return [fill(customer, subscription)];
  if (path.startsWith('/customer/x')) return [fill(customer)];
  if (path.startsWith('/plan-purchase/x')) return ['1', '10', '13', '14'].map((id) => fill(id));
  if (path.startsWith('/signup/plan/x')) return [fill(key)];
  if (path.startsWith('/signup/completed/plan/')) return [fill(key, 'm-99')];
  if (path.startsWith('/signup/completed/')) return [fill('m-99')];
  return [path];
}

const isWrite = ({ method, path, as }: Exchange) =>
  as === 'secret' && method !== 'GET' && path !== '/v1/invoices/create_preview';

/** Ends the session, or belongs to the sandbox alone. */
const isLeftOut = (path: string) => /^\/(sandbox|sign-out|oauth2\/(logout|session\/end))/.test(path);

describe('reading pages and calls changes nothing at Stripe', () => {
  let shop: Shop;
  let paths: string[];
  const writes: string[] = [];
  beforeAll(async () => {
    shop = await startShop(anyBackend, manyCards);
    shop.stripe.observe((exchange) => {
      if (isWrite(exchange)) writes.push(`${exchange.method} ${exchange.path}`);
    });
    paths = routesOf(shop.foyer.app.express).flatMap(({ path, methods }) =>
      (methods.includes('GET') || methods.length === 0) && !isLeftOut(path) ? [path] : [],
    );
  });
  afterAll(() => shop?.close());

  // The stand-in's clock would do with it what is done with a first payment that was not made.
  afterEach(() => setStatus(shop, 'canceled', ({ status }) => status === 'incomplete'));

  // Events are forgotten by their age.
  const objects = () =>
    (shop.stripe.engine.snapshot() as { objects: { object: string }[] }).objects.filter(
      ({ object }) => object !== 'event',
    );

  it.each(Object.keys(statuses))(
    'Every page and call that reads changes nothing at Stripe in the state: %s',
    async (status) => {
      const user = await shop.foyer.addUser();
      await shop.membership.ensure(user, 7);
      await statuses[status]?.(shop, user);
      const standing = await shop.membership.refresh(user.id);
      const ids = { customer: standing?.customerId ?? '', subscription: standing?.subscriptionId ?? 'sub_none' };
      const browser = await shop.foyer.signedIn(user);
      const client = await asClient(shop, 'users:read', 'plans:read');
      const before = objects();
      writes.length = 0;
      const answers = new Map<string, number>();
      for (const path of paths) {
        for (const address of addressesOf(shop, path, ids)) {
          const { status: answer } = await browser.get(address);
          answers.set(address, answer);
          if (/^\/(customer|user)\//.test(path)) await client('GET', address).catch(() => {});
        }
      }
      expect(writes).toEqual([]);
      expect(objects()).toEqual(before);
      // It is still the member who asks, and the pages of money are among what was read.
      expect((await browser.get('/settings')).status).toBe(200);
      expect([...answers].filter(([, answer]) => answer >= 500)).toEqual([]);
      for (const address of ['/plan-purchase/14', '/settings/membership', `/customer/${ids.customer}`]) {
        expect([200, 303]).toContain(answers.get(address));
      }
      expect(answers.size).toBeGreaterThan(80);
    },
    120_000,
  );

  it('The first plan page creates a customer and a trial once', async () => {
    const browser = await shop.foyer.signedIn(await shop.foyer.addUser());
    writes.length = 0;
    expect((await browser.get('/plan-purchase/10')).status).toBe(200);
    const made = writes.splice(0).map((line) => line.replace(/cus_\w+/, 'cus_x'));
    expect(made).toEqual(['POST /v1/customers', 'POST /v1/customers/cus_x', 'POST /v1/subscriptions']);
    await browser.get('/plan-purchase/10');
    await browser.get('/plan-purchase/14/addPayment');
    expect(writes).toEqual([]);
  });
});

describe.each(backends)('a subscription that is paused after it was paid, on $name', (backend) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(backend, manyCards);
    shop.stripe.tell(shop.foyer.url);
  });
  afterAll(() => shop?.close());

  const found = async (user: User) => shop.stripe.engine.find(await subscriptionOf(shop, user));
  const words = async (browser: Browser, path: string) => wordsOf(await (await browser.get(path)).text());

  async function pausedMember(): Promise<{ user: User; browser: Browser }> {
    const user = await shop.foyer.addUser();
    await paused('pause_requested')(shop, user);
    await shop.stripe.webhooks.idle();
    return { user, browser: await shop.foyer.signedIn(user) };
  }

  it('Opening a plan page or starting a change of the card leaves the subscription paused', async () => {
    const { user, browser } = await pausedMember();
    const before = await found(user);
    expect((await browser.get('/plan-purchase/14')).headers.get('location')).toBe('/settings/membership');
    expect((await browser.get('/plan-purchase')).headers.get('location')).toBe('/settings/membership');
    expect((await browser.post('/settings/membership/card/setup')).status).toBe(200);
    await shop.saveCard(user, cards.mastercard);
    expect(await found(user)).toMatchObject({ id: before?.id, status: 'paused' });
  });

  it('The page names the pause in each language, shows no next charge and offers nothing that charges', async () => {
    const { browser } = await pausedMember();
    const html = await (await browser.get('/settings/membership')).text();
    const said = wordsOf(html);
    expect(said).toContain('Your membership is paused');
    expect(said).not.toMatch(/Renews on|trial is over|nothing was charged/);
    expect(html).not.toContain('href="/plan-purchase"');
    expect(await words(browser, '/settings')).toContain('Paused');
    const titles = {
      de: 'Ihre Mitgliedschaft ist pausiert',
      fr: 'Votre abonnement est en pause',
      nl: 'Je lidmaatschap is gepauzeerd',
    };
    for (const [lang, title] of Object.entries(titles)) {
      await browser.post('/language', { lang, redirect: '/settings/membership' });
      expect(await words(browser, '/settings/membership')).toContain(title);
    }
  });

  it('A purchase that was started before the pause charges nothing and does not resume the subscription', async () => {
    const { user } = await pausedMember();
    await shop.membership.choose(user, shop.plan('m-899'));
    const paidBefore = shop.stripe.engine.call({ method: 'GET', path: '/v1/invoices', params: { status: 'paid' } }) as {
      data: unknown[];
    };
    expect(
      await shop.membership.confirm(user, { planId: toPlanId('14'), dueCents: 89_900 }, { ip: '203.0.113.7' }),
    ).toEqual({
      kind: 'paused',
    });
    expect(await found(user)).toMatchObject({ status: 'paused' });
    const paidAfter = shop.stripe.engine.call({ method: 'GET', path: '/v1/invoices', params: { status: 'paid' } }) as {
      data: unknown[];
    };
    expect(paidAfter.data).toHaveLength(paidBefore.data.length);
  });

  it('Cancelling a paused subscription ends it at once and turns its unused time into credit', async () => {
    const { user, browser } = await pausedMember();
    expect(await words(browser, '/settings/membership/cancel')).toContain('It ends right away, because it’s paused.');
    const answer = await browser.post('/settings/membership/cancel');
    expect(answer.headers.get('location')).toBe('/settings/membership#membership:ended');
    const { customerId, status } = (await shop.membership.getMembership(user.id)) ?? {};
    expect(status).toBe('canceled');
    // 335 of 365 days of 5,000.00.
    const customer = shop.stripe.engine.find(customerId ?? '') as { balance: number };
    expect(-customer.balance).toBeGreaterThan(458_000);
    expect(-customer.balance).toBeLessThan(459_500);
    // The next purchase uses it.
    expect(await words(browser, '/plan-purchase/14')).toContain('−$899.00');
  });

  it('The paused subscription of a member who leaves ends, because a resumed one would charge again', async () => {
    const { user } = await pausedMember();
    const { deletion } = shop.foyer.app;
    expect(deletion).toBeDefined();
    const { subscriptionOnDeletion } = await import('../../server/billing/index.ts');
    const { database, now } = shop.foyer.deps;
    const rules = subscriptionOnDeletion(database, shop.membership.catalogue);
    await database.transaction((trx) => rules.cancelOnDeletion(trx, user.id, { timing: 'period-end', nowMs: now() }));
    await shop.membership.work();
    expect((await shop.membership.getMembership(user.id))?.status).toBe('canceled');
  });

  it('Taking the free plan ends a paused subscription, and one that an operator resumes continues as it was', async () => {
    const { user } = await pausedMember();
    await shop.membership.takeFree(user, shop.plan('m-free'));
    expect((await shop.membership.getMembership(user.id))?.status).toBe('canceled');
    const other = await pausedMember();
    const id = await subscriptionOf(shop, other.user);
    shop.stripe.engine.call({ method: 'POST', path: `/v1/subscriptions/${id}/resume` });
    expect(await shop.membership.refresh(other.user.id)).toMatchObject({ subscriptionId: id });
  });
});
