import type Stripe from 'stripe';
import { loadPlans } from '../../config/plans.ts';
import {
  createCatalogue,
  createStripe,
  findDrift,
  readPlansFromStripe,
  type StripeClient,
  StripeUnavailableError,
  syncPlans,
} from '../../server/billing/index.ts';
import { startStripe, stripeKeys, type TestStripe } from '../support/stripe.ts';

const file = loadPlans();
const catalogue = createCatalogue(file);

/** The catalogue with another amount, name or key of plan 10. */
function withStarter(change: { planAmount?: number; name?: string; lookupKey?: string }, currency = 'usd') {
  const plans = file.plans.map((plan) => (plan.id === '10' && plan.kind === 'paid' ? { ...plan, ...change } : plan));
  return createCatalogue({ ...file, currency, plans });
}

let standIn: TestStripe;
let stripe: Stripe;
let client: StripeClient;
let calls: string[];
beforeEach(async () => {
  standIn = await startStripe();
  stripe = standIn.client();
  client = createStripe({ secretKey: stripeKeys.secretKey, apiUrl: standIn.url });
  calls = [];
  standIn.observe(({ method, path }) => calls.push(`${method} ${path}`));
});
afterEach(() => standIn?.close());

const priceOf = async (lookupKey: string) => {
  const { data } = await stripe.prices.list({ lookup_keys: [lookupKey], expand: ['data.product'] });
  const [price] = data;
  if (!price || data.length > 1) throw new Error(`${data.length} prices have the key ${lookupKey}`);
  return price;
};
const driftFor = async (lookupKey: string, of = catalogue) => {
  const state = (await readPlansFromStripe(client, of)).find(({ expected }) => expected.lookupKey === lookupKey);
  if (!state) throw new Error(`nothing is known of ${lookupKey}`);
  return findDrift(state);
};

describe('foyer plans sync for an account without plans', () => {
  it('The sync creates a product and a price for every plan that is sold and for the trial plan', async () => {
    await syncPlans(client, catalogue);
    const { data } = await stripe.prices.list({ limit: 100, expand: ['data.product'] });
    const made = data.map(({ lookup_key: key, currency, unit_amount: cents, recurring, product, metadata }) => [
      ...[key, currency, cents, `${recurring?.interval_count} ${recurring?.interval}`],
      ...[(product as Stripe.Product).name, metadata.foyer_plan, (product as Stripe.Product).metadata.foyer_plan],
    ]);
    expect(made.toReversed()).toEqual([
      ['Basic-Plan-M', 'usd', 0, '1 month', 'Basic', 'trial', 'trial'],
      ['m-99', 'usd', 9_900, '1 month', 'Starter (monthly)', '10', '10'],
      ['y-900', 'usd', 90_000, '1 year', 'Starter (yearly)', '11', '11'],
      ['m-499', 'usd', 49_900, '1 month', 'Growth (monthly)', '12', '12'],
      ['y-5000', 'usd', 500_000, '1 year', 'Growth (yearly)', '13', '13'],
      ['m-899', 'usd', 89_900, '1 month', 'Scale (monthly)', '14', '14'],
      ['y-8000', 'usd', 800_000, '1 year', 'Scale (yearly)', '15', '15'],
    ]);
  });

  it('A second sync changes nothing and makes few requests', async () => {
    await syncPlans(client, catalogue);
    calls.length = 0;
    const again = await syncPlans(client, catalogue);
    expect(again.flatMap(({ acts }) => acts)).toEqual([]);
    expect(calls).toEqual(['GET /v1/prices', 'GET /v1/prices']);
  });

  it('A dry run reports what it would do and does nothing', async () => {
    const planned = await syncPlans(client, catalogue, { dryRun: true });
    expect(planned.map(({ acts }) => acts.map(({ act }) => act))).toEqual(
      planned.map(() => ['create product', 'create price']),
    );
    expect(planned.map(({ drift }) => drift.map(({ what }) => what))).toEqual(
      planned.map(() => ['product missing', 'price missing']),
    );
    expect(calls.filter((call) => !call.startsWith('GET'))).toEqual([]);
  });

  it('Two syncs at once create one of each', async () => {
    await Promise.all([syncPlans(client, catalogue), syncPlans(client, catalogue)]);
    const { data } = await stripe.prices.list({ limit: 100, active: true });
    expect(data.map(({ lookup_key: key }) => key).toSorted()).toEqual(
      [...new Set(data.map(({ lookup_key: key }) => key))].toSorted(),
    );
    expect(data).toHaveLength(7);
    expect((await stripe.products.list({ limit: 100 })).data).toHaveLength(7);
  });

  it.each(['lost', 'unreachable'] as const)(
    'The sync continues after an answer was lost or Stripe was unreachable (%s)',
    async (kind) => {
      let seen = 0;
      // The stand-in lets the library's own second try fail, too.
      standIn.fault(kind, (method, path) => method === 'POST' && path === '/v1/prices' && ++seen === 3);
      await expect(syncPlans(client, catalogue)).rejects.toBeInstanceOf(StripeUnavailableError);
      await syncPlans(client, catalogue);
      expect((await stripe.prices.list({ limit: 100 })).data).toHaveLength(7);
      expect((await readPlansFromStripe(client, catalogue)).flatMap(findDrift)).toEqual([]);
    },
  );

  it('The sync reports that Stripe does not answer', async () => {
    const unreachable = createStripe({ secretKey: stripeKeys.secretKey, apiUrl: 'http://127.0.0.1:9' });
    await expect(syncPlans(unreachable, catalogue)).rejects.toBeInstanceOf(StripeUnavailableError);
  });
});

describe('foyer plans sync after a change', () => {
  beforeEach(async () => {
    await syncPlans(client, catalogue);
  });

  it('A changed amount creates a new price with the lookup key and archives the old one, which keeps its plan', async () => {
    const old = await priceOf('m-99');
    const dearer = withStarter({ planAmount: 109 });
    expect(await driftFor('m-99', dearer)).toEqual([{ what: 'amount', is: '9900', should: '10900' }]);
    await syncPlans(client, dearer);
    const now = await priceOf('m-99');
    expect(now).toMatchObject({
      active: true,
      unit_amount: 10_900,
      product: { id: (old.product as Stripe.Product).id },
    });
    expect(await stripe.prices.retrieve(old.id)).toMatchObject({
      active: false,
      lookup_key: null,
      unit_amount: 9_900,
      metadata: { foyer_plan: '10' },
    });
  });

  it('An amount changed back within the life of an idempotency key creates a third price, not the first one again', async () => {
    const first = await priceOf('m-99');
    await syncPlans(client, withStarter({ planAmount: 109 }));
    await syncPlans(client, catalogue);
    const third = await priceOf('m-99');
    expect(third).toMatchObject({ active: true, unit_amount: 9_900 });
    expect(third.id).not.toBe(first.id);
  });

  it('A changed amount leaves subscribers on their price', async () => {
    const old = await priceOf('m-99');
    const customer = await stripe.customers.create({ email: 'vera@example.com' });
    const method = await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id });
    const subscription = await stripe.subscriptions.create({
      customer: customer.id,
      items: [{ price: old.id }],
      default_payment_method: method.id,
    });
    await syncPlans(client, withStarter({ planAmount: 109 }));
    const after = await stripe.subscriptions.retrieve(subscription.id);
    expect(after.items.data.map(({ price }) => [price.id, price.unit_amount])).toEqual([[old.id, 9_900]]);
  });

  it('A changed currency creates new prices', async () => {
    await syncPlans(client, withStarter({}, 'eur'));
    expect(await priceOf('m-99')).toMatchObject({ currency: 'eur', unit_amount: 9_900, active: true });
    expect((await stripe.prices.list({ active: true, limit: 100 })).data).toHaveLength(7);
  });

  it('A changed name changes only the product', async () => {
    const { id } = await priceOf('m-99');
    const renamed = withStarter({ name: 'Solo' });
    expect(await driftFor('m-99', renamed)).toEqual([
      { what: 'product name', is: 'Starter (monthly)', should: 'Solo (monthly)' },
    ]);
    await syncPlans(client, renamed);
    expect(await priceOf('m-99')).toMatchObject({ id, product: { name: 'Solo (monthly)' } });
  });

  it('A changed lookup key archives the price of the old key', async () => {
    const old = await priceOf('m-99');
    await syncPlans(client, withStarter({ lookupKey: 'starter-2027' }));
    expect(await priceOf('starter-2027')).toMatchObject({
      unit_amount: 9_900,
      product: { id: (old.product as Stripe.Product).id },
    });
    expect(await stripe.prices.retrieve(old.id)).toMatchObject({ active: false });
  });
});

describe('manual changes at Stripe', () => {
  beforeEach(async () => {
    await syncPlans(client, catalogue);
  });
  const mended = async () => {
    await syncPlans(client, catalogue);
    expect((await readPlansFromStripe(client, catalogue)).flatMap(findDrift)).toEqual([]);
  };

  it('The sync activates an archived price again', async () => {
    const { id } = await priceOf('m-499');
    await stripe.prices.update(id, { active: false });
    expect(await driftFor('m-499')).toEqual([{ what: 'price archived' }]);
    await mended();
    expect(await priceOf('m-499')).toMatchObject({ id, active: true });
  });

  it('The sync repairs a product that was archived or renamed', async () => {
    const product = (await priceOf('m-499')).product as Stripe.Product;
    await stripe.products.update(product.id, { active: false, name: 'Gross' });
    expect((await driftFor('m-499')).map(({ what }) => what)).toEqual(['product archived', 'product name']);
    await mended();
  });

  it.each([
    { periods: 'calendar', is: '30 × day', should: '1 × month', made: { interval: 'day', interval_count: 30 } },
    { periods: 'days', is: '1 × month', should: '30 × day', made: { interval: 'month', interval_count: 1 } },
  ] as const)(
    'The sync replaces a price of another interval under the key, because a month is not 30 days ($periods)',
    async ({ periods, is, should, made }) => {
      const sold = createCatalogue({ ...file, periods });
      await syncPlans(client, sold);
      const product = (await priceOf('m-499')).product as Stripe.Product;
      const base = { product: product.id, currency: 'usd', unit_amount: 49_900, recurring: made };
      await stripe.prices.create({ ...base, lookup_key: 'm-499', transfer_lookup_key: true });
      expect(await driftFor('m-499', sold)).toEqual([
        { what: 'interval', is, should },
        { what: 'not marked' },
        { what: 'old price still active', is: expect.stringMatching(/^price_/) },
      ]);
      await syncPlans(client, sold);
      expect((await readPlansFromStripe(client, sold)).flatMap(findDrift)).toEqual([]);
      const { interval, interval_count: count } = (await priceOf('m-499')).recurring ?? {};
      expect(`${count} × ${interval}`).toBe(should);
    },
  );

  it('A change from 30 days to months leaves subscribers on 30 days, and the dry run counts them', async () => {
    await syncPlans(client, createCatalogue({ ...file, periods: 'days' }));
    const old = await priceOf('m-99');
    for (const email of ['vera@example.com', 'otto@example.com']) {
      const customer = await stripe.customers.create({ email });
      const method = await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id });
      await stripe.subscriptions.create({
        customer: customer.id,
        items: [{ price: old.id }],
        default_payment_method: method.id,
      });
    }
    const planned = await syncPlans(client, catalogue, { dryRun: true });
    expect(planned.map(({ expected, staying }) => [expected.lookupKey, staying])).toEqual([
      ['Basic-Plan-M', 0],
      ['m-99', 2],
      ['y-900', 0],
      ['m-499', 0],
      ['y-5000', 0],
      ['m-899', 0],
      ['y-8000', 0],
    ]);
    await syncPlans(client, catalogue);
    const { data } = await stripe.subscriptions.list();
    const intervals = data.flatMap(({ items }) => items.data.map(({ price }) => price.recurring?.interval_count));
    expect(intervals).toEqual([30, 30]);
    expect(await stripe.prices.retrieve(old.id)).toMatchObject({ active: false, metadata: { foyer_plan: '10' } });
  });

  it('The sync replaces a price that is its product’s default', async () => {
    const old = await priceOf('m-99');
    const product = (old.product as Stripe.Product).id;
    await stripe.products.update(product, { default_price: old.id });
    await syncPlans(client, withStarter({ planAmount: 109 }));
    expect((await stripe.products.retrieve(product)).default_price).toBe((await priceOf('m-99')).id);
    expect(await stripe.prices.retrieve(old.id)).toMatchObject({ active: false });
  });

  it('The sync separates two plans that share a product, because a product must name one plan', async () => {
    const shared = (await priceOf('m-99')).product as Stripe.Product;
    const year = { interval: 'year' } as const;
    await stripe.prices.create({
      product: shared.id,
      currency: 'usd',
      unit_amount: 90_000,
      recurring: year,
      lookup_key: 'y-900',
      transfer_lookup_key: true,
      metadata: { foyer_plan: '11' },
    });
    expect((await driftFor('y-900')).map(({ what }) => what)).toEqual(['product', 'old price still active']);
    await mended();
    expect(await priceOf('y-900')).toMatchObject({ product: { id: 'foyer_plan_11', name: 'Starter (yearly)' } });
    expect(await priceOf('m-99')).toMatchObject({ product: { id: shared.id, name: 'Starter (monthly)' } });
  });

  it('The sync leaves prices alone that are not Foyer’s', async () => {
    const own = await stripe.products.create({ name: 'Workshop' });
    const price = await stripe.prices.create({ product: own.id, currency: 'usd', unit_amount: 5_000 });
    await mended();
    expect(await stripe.prices.retrieve(price.id)).toMatchObject({ active: true });
  });
});
