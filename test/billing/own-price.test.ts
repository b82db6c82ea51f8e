import { loadPlans } from '../../config/plans.ts';
import { createCatalogue, createStripe, subscriptionOnDeletion, syncPlans } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';
import { stripeKeys } from '../support/stripe.ts';
import { aBuyer } from './api-steps.ts';
import { mainForm, wordsOf } from './checkout/shop.ts';
import { cards, dayMs, type Shop, startShop } from './steps.ts';

// The catalogue's periods are those of the calendar now, too.
describe('a price that was raised after the purchase', () => {
  const raisedFile = plansWith({
    plans: loadPlans().plans.map((plan) => (plan.id === '12' ? { ...plan, planAmount: 599 } : plan)),
  });
  let shop: Shop;
  beforeEach(async () => {
    shop = await startShop(anyBackend, { PLANS_FILE: raisedFile });
  });
  afterEach(() => shop?.close());

  /** A member whose price is $499 every 30 days. */
  async function subscribedBefore() {
    const stripe = shop.stripe.client();
    const [raised] = (await stripe.prices.list({ lookup_keys: ['m-499'] })).data;
    const product = String(raised?.product);
    // As it was before the operator raised it.
    await stripe.prices.create({
      product,
      currency: 'usd',
      unit_amount: 49_900,
      recurring: { interval: 'day', interval_count: 30 },
      lookup_key: 'm-499',
      transfer_lookup_key: true,
      metadata: { foyer_plan: '12' },
    });
    shop.membership.deps.prices.forget();
    const buyer = await aBuyer(shop);
    await shop.buy(buyer.user, 'm-499');
    const client = createStripe({ secretKey: stripeKeys.secretKey, apiUrl: shop.stripe.url });
    await syncPlans(client, createCatalogue(loadPlans(raisedFile)));
    return buyer;
  }

  it('The membership page and the receipt of the renewal show the price of the subscription, not the catalogue’s', async () => {
    const buyer = await subscribedBefore();
    shop.passTime(30 * dayMs + 3 * 60 * 60_000);
    await shop.membership.refresh(buyer.user.id);
    expect(await shop.membership.getMembership(buyer.user.id)).toMatchObject({
      price: { amountCents: 49_900, currency: 'usd', interval: 'day', intervalCount: 30 },
      nextCharge: { amountCents: 49_900 },
    });
    const browser = await shop.foyer.signedIn(buyer.user);
    const words = wordsOf(await (await browser.get('/settings/membership')).text());
    expect(words).toContain('Price $499 every 30 days Renews on');
    expect(words).not.toContain('$599');
    const receipts = (await shop.foyer.mails(buyer.user.email)).filter(({ template }) => template === 'receipt');
    expect(receipts.map(({ values }) => [values.planAmount, values.totalAmount])).toEqual([
      [49_900, 49_900],
      [49_900, 49_900],
    ]);
    expect(receipts.map(({ values }) => values.everyDays)).toEqual([30, 30]);
    // Where the plan is offered, it has today's price.
    expect(wordsOf(await (await browser.get('/plan-purchase')).text())).toContain('$599');
  });

  it('The list of invoices names the period that each invoice has charged, not the catalogue’s', async () => {
    const { user } = await subscribedBefore();
    const rowsOf = async () => {
      const page = await (await shop.foyer.signedIn(user)).get('/settings/membership');
      return [...(await page.text()).matchAll(/Growth, (?:monthly|every 30 days)/g)].map(([text]) => text);
    };
    expect(await rowsOf()).not.toContain('Growth, monthly');
    expect(await rowsOf()).toContain('Growth, every 30 days');
    await shop.membership.cancel(user);
    shop.passTime(60 * dayMs);
    await shop.membership.refresh(user.id);
    expect(await shop.buy(user, 'm-499')).toMatchObject({ kind: 'paid' });
    expect((await rowsOf()).slice(-2)).toEqual(['Growth, monthly', 'Growth, every 30 days']);
  });

  it('The page that keeps a plan names the amount of the subscription’s own price, and that is charged', async () => {
    const { user, customer } = await subscribedBefore();
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'scheduled' });
    const browser = await shop.foyer.signedIn(user);
    const keep = wordsOf(await (await browser.get('/settings/membership/resume')).text());
    expect(keep).toMatch(/Growth continues and renews on \w+ \d+, \d{4} at \$499\.00\./);
    await browser.post('/settings/membership/resume');
    shop.passTime(30 * dayMs + 3 * 60 * 60_000);
    await shop.membership.refresh(user.id);
    const { data } = await shop.stripe.client().invoices.list({ customer, limit: 1 });
    expect(data[0]).toMatchObject({ billing_reason: 'subscription_cycle', amount_paid: 49_900 });
  });

  it.each([
    ['kept by its member', ['m-499'], '12', 49_900],
    ['scheduled already', ['m-899', 'm-499'], '12', 49_900],
  ])(
    'The price of a plan that is %s is announced as it stays, after the catalogue has raised it',
    async (_how, codes, id, cents) => {
      const stripe = shop.stripe.client();
      const [raised] = (await stripe.prices.list({ lookup_keys: ['m-499'] })).data;
      const former = await stripe.prices.create({
        product: String(raised?.product),
        currency: 'usd',
        unit_amount: cents,
        recurring: { interval: 'month' },
        lookup_key: 'm-499',
        transfer_lookup_key: true,
        metadata: { foyer_plan: '12' },
      });
      shop.membership.deps.prices.forget();
      const { user } = await aBuyer(shop);
      for (const code of codes) await shop.buy(user, code);
      if (codes.length === 1) await shop.membership.cancel(user);
      const client = createStripe({ secretKey: stripeKeys.secretKey, apiUrl: shop.stripe.url });
      await syncPlans(client, createCatalogue(loadPlans(raisedFile)));
      expect(await stripe.prices.retrieve(former.id)).toMatchObject({ active: false });

      shop.membership.deps.prices.forget();
      const plan = shop.membership.catalogue.plans.find((one) => one.id === id);
      if (!plan) throw new Error('the plan is not in the catalogue');
      expect((await shop.membership.quote(user, plan, null)).next).toMatchObject({ amountCents: cents });
      await shop.buy(user, 'm-499');
      shop.passTime(32 * dayMs + 3 * 60 * 60_000);
      await shop.membership.refresh(user.id);
      expect(await shop.membership.getMembership(user.id)).toMatchObject({
        paidPlanId: id,
        price: { amountCents: cents },
      });
    },
  );

  /** The price of $499 a month, until the operator raises it. */
  async function sellAtFormerPrice(): Promise<void> {
    const stripe = shop.stripe.client();
    const [raised] = (await stripe.prices.list({ lookup_keys: ['m-499'] })).data;
    await stripe.prices.create({
      product: String(raised?.product),
      currency: 'usd',
      unit_amount: 49_900,
      recurring: { interval: 'month' },
      lookup_key: 'm-499',
      transfer_lookup_key: true,
      metadata: { foyer_plan: '12' },
    });
    shop.membership.deps.prices.forget();
  }

  async function raisePrice(): Promise<void> {
    const client = createStripe({ secretKey: stripeKeys.secretKey, apiUrl: shop.stripe.url });
    await syncPlans(client, createCatalogue(loadPlans(raisedFile)));
    shop.membership.deps.prices.forget();
  }

  it('A later change whose price is raised while its page is open is not made, and the page shows the new amount', async () => {
    await sellAtFormerPrice();
    const { user } = await aBuyer(shop);
    await shop.buy(user, 'm-899');
    const browser = await shop.foyer.signedIn(user);
    const html = await (await browser.get('/plan-purchase/12')).text();
    expect(wordsOf(html)).toMatch(
      /Due today \$0\.00 Growth, monthly, from \w+ \d+, \d{4} \$499\.00 Until then you keep Scale\./,
    );
    await raisePrice();
    const { action, fields } = mainForm(html);
    const answer = await browser.post(action, fields);
    const shown = await answer.text();
    expect(answer.status).toBe(409);
    expect(wordsOf(shown)).toMatch(/Growth, monthly, from \w+ \d+, \d{4} \$599\.00 Until then you keep Scale\./);
    expect(await shop.membership.getMembership(user.id)).toMatchObject({ nextPlanId: null });
    expect((await browser.post(action, mainForm(shown).fields)).status).toBe(303);
    expect(await shop.membership.getMembership(user.id)).toMatchObject({
      nextPlanId: '12',
      nextCharge: { amountCents: 59_900 },
    });
  });

  it('A renewal that is raised while the page of a free first period is open is shown before the plan is sold', async () => {
    await sellAtFormerPrice();
    await shop.stripe.client().coupons.create({ id: 'ALLOFF', percent_off: 100, duration: 'once' });
    const { user } = await aBuyer(shop);
    const browser = await shop.foyer.signedIn(user);
    await browser.post('/plan-purchase/12', { act: 'promo', planId: '12', promo: 'ALLOFF' });
    const html = await (await browser.get('/plan-purchase/12')).text();
    expect(wordsOf(html)).toMatch(/Due today \$0\.00 .* at \$499\.00\./);
    await raisePrice();
    const { action, fields } = mainForm(html);
    const answer = await browser.post(action, fields);
    expect(answer.status).toBe(409);
    expect(wordsOf(await answer.text())).toMatch(/Due today \$0\.00 .* at \$599\.00\./);
    expect((await shop.userNow(user)).planId).toBeNull();
  });

  it('A change that waits for Stripe keeps the announced price, though the operator raises it meanwhile', async () => {
    await sellAtFormerPrice();
    const { user } = await aBuyer(shop);
    await shop.buy(user, 'm-899');
    shop.stripe.fault('error', (method, path) => method === 'POST' && path === '/v1/subscription_schedules');
    expect(await shop.buy(user, 'm-499')).toMatchObject({ kind: 'scheduled' });
    await raisePrice();
    shop.passTime(2 * 60_000);
    await shop.membership.work();
    expect(await shop.membership.getMembership(user.id)).toMatchObject({
      nextPlanId: '12',
      nextCharge: { amountCents: 49_900 },
    });
    const { data } = await shop.stripe.client().prices.list({ limit: 100, active: true });
    expect(data.filter(({ metadata }) => metadata.foyer_plan === '12').map((price) => price.unit_amount)).toEqual([
      59_900,
    ]);
  });

  it('A scheduled plan keeps its announced price after an upgrade that was given up', async () => {
    await sellAtFormerPrice();
    const { user } = await aBuyer(shop);
    await shop.buy(user, 'm-899');
    expect(await shop.buy(user, 'm-499')).toMatchObject({ kind: 'scheduled' });
    await raisePrice();
    await shop.saveCard(user, cards.authenticatesAlways);
    expect(await shop.buy(user, 'y-8000')).toMatchObject({ kind: 'action' });
    await shop.membership.choose(user, shop.plan('m-99'));
    expect(await shop.membership.getMembership(user.id)).toMatchObject({
      nextPlanId: '12',
      nextCharge: { amountCents: 49_900 },
    });
  });

  /** The member asks for the deletion of the account; `stay`: and signs in before it is due. */
  const leaving = () => subscriptionOnDeletion(shop.foyer.deps.database, shop.membership.catalogue);
  const leave = ({ id }: User) =>
    shop.foyer.deps.database.transaction((trx) =>
      leaving().cancelOnDeletion(trx, id, { timing: 'period-end', nowMs: shop.membership.deps.now() }),
    );
  async function stay({ id }: User, noted: string): Promise<void> {
    const nowMs = shop.membership.deps.now();
    await shop.foyer.deps.database.transaction((trx) => leaving().resumeAfterCancellation(trx, id, { noted, nowMs }));
    shop.passTime(2 * 60_000);
    await shop.membership.work();
  }

  it('A member who leaves and stays keeps the scheduled plan at its announced price, though the operator raises it', async () => {
    await sellAtFormerPrice();
    const { user } = await aBuyer(shop);
    await shop.buy(user, 'm-899');
    expect(await shop.buy(user, 'm-499')).toMatchObject({ kind: 'scheduled' });
    const noted = await leave(user);
    await shop.membership.work();
    expect(await shop.membership.getMembership(user.id)).toMatchObject({ cancelAtPeriodEnd: true, nextPlanId: null });
    await raisePrice();
    await stay(user, noted ?? '');
    expect(await shop.membership.getMembership(user.id)).toMatchObject({
      cancelAtPeriodEnd: false,
      nextPlanId: '12',
      nextCharge: { amountCents: 49_900 },
    });
  });

  it('A change that Stripe did not have before its member left and stayed is made at the announced price', async () => {
    await sellAtFormerPrice();
    const { user } = await aBuyer(shop);
    await shop.buy(user, 'm-899');
    shop.stripe.fault('unreachable', (method, path) => method === 'POST' && path === '/v1/subscription_schedules');
    expect(await shop.buy(user, 'm-499')).toMatchObject({ kind: 'scheduled', isNoted: true });
    const noted = await leave(user);
    await raisePrice();
    await stay(user, noted ?? '');
    expect(await shop.membership.getMembership(user.id)).toMatchObject({
      cancelAtPeriodEnd: false,
      nextPlanId: '12',
      nextCharge: { amountCents: 49_900 },
    });
  });
});
