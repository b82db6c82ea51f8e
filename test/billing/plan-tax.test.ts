import type Stripe from 'stripe';
import { loadPlans } from '../../config/plans.ts';
import {
  createCatalogue,
  createStripe,
  findDrift,
  readPlansFromStripe,
  type StripeClient,
  syncPlans,
} from '../../server/billing/index.ts';
import { startStripe, stripeKeys, type TestStripe } from '../support/stripe.ts';

const file = loadPlans();
const catalogue = createCatalogue(file);

describe('foyer plans sync with tax', () => {
  let standIn: TestStripe;
  let stripe: Stripe;
  let client: StripeClient;
  beforeEach(async () => {
    standIn = await startStripe();
    stripe = standIn.client();
    client = createStripe({ secretKey: stripeKeys.secretKey, apiUrl: standIn.url });
  });
  afterEach(() => standIn?.close());

  async function priceOf(lookupKey: string): Promise<Stripe.Price> {
    const [price] = (await stripe.prices.list({ lookup_keys: [lookupKey] })).data;
    if (!price) throw new Error(`no price has the key ${lookupKey}`);
    return price;
  }
  async function driftFor(lookupKey: string, of: typeof catalogue) {
    const state = (await readPlansFromStripe(client, of)).find(({ expected }) => expected.lookupKey === lookupKey);
    return state && findDrift(state);
  }
  const taxed = (behaviour: 'inclusive' | 'exclusive') =>
    createCatalogue({ ...file, tax: { automatic: true, behaviour } });

  it('New prices get the tax behaviour of the catalogue', async () => {
    await syncPlans(client, taxed('exclusive'));
    expect(await priceOf('m-99')).toMatchObject({ unit_amount: 9_900, tax_behavior: 'exclusive' });
    expect(await driftFor('m-99', taxed('exclusive'))).toEqual([]);
  });

  it('A price without a tax behaviour gets it and stays, so that its subscribers keep it', async () => {
    await syncPlans(client, catalogue);
    const before = await priceOf('m-99');
    const drift = { what: 'tax behaviour', is: 'unspecified', should: 'inclusive' };
    expect(await driftFor('m-99', taxed('inclusive'))).toEqual([drift]);
    await syncPlans(client, taxed('inclusive'));
    expect(await priceOf('m-99')).toMatchObject({ id: before.id, tax_behavior: 'inclusive' });
    expect(await driftFor('m-99', taxed('inclusive'))).toEqual([]);
  });

  it('Another tax behaviour makes a new price, because Stripe cannot change it', async () => {
    await syncPlans(client, taxed('inclusive'));
    const before = await priceOf('m-99');
    await syncPlans(client, taxed('exclusive'));
    const after = await priceOf('m-99');
    expect(after.id).not.toBe(before.id);
    expect(after.tax_behavior).toBe('exclusive');
    expect(await stripe.prices.retrieve(before.id)).toMatchObject({ active: false, tax_behavior: 'inclusive' });
  });

  it('Without tax in the catalogue every tax behaviour at Stripe fits', async () => {
    await syncPlans(client, taxed('exclusive'));
    expect(await driftFor('m-99', catalogue)).toEqual([]);
  });
});
