import type Stripe from 'stripe';
import { type PlanId, toPlanId } from '../../shared/index.ts';
import { StripeUnavailableError } from '../results.ts';
import { callStripe, orNotFound, type StripeClient, toStripeRefusal } from '../stripe/stripe-client.ts';
import type { Catalogue } from './catalogue.ts';
import {
  type Drift,
  type ExpectedPrice,
  findDrift,
  listExpectedPrices,
  type PlanAct,
  type PlanState,
  planActions,
  planKey,
  type StripePrice,
  type StripeProduct,
  toProductId,
} from './plan-drift.ts';

const maxLookupKeys = 10;

function knownPrice(price: Stripe.Price): StripePrice {
  const { recurring, billing_scheme: scheme } = price;
  const licensed = recurring && recurring.usage_type === 'licensed' && scheme === 'per_unit';
  return {
    id: price.id,
    productId: typeof price.product === 'string' ? price.product : price.product.id,
    active: price.active,
    currency: price.currency,
    unitAmount: price.unit_amount,
    interval: licensed ? `${recurring.interval_count} × ${recurring.interval}` : null,
    taxBehaviour: price.tax_behavior ?? 'unspecified',
    markedAs: price.metadata[planKey] ?? null,
  };
}

function knownProduct(product: Stripe.Product | Stripe.DeletedProduct): StripeProduct | undefined {
  if (product.deleted) return undefined;
  const { id, name, active, default_price: price, metadata } = product;
  const defaultPriceId = typeof price === 'string' ? price : (price?.id ?? null);
  return { id, name, active, defaultPriceId, markedAs: metadata[planKey] ?? null };
}

/** Reads the catalogue's plans at Stripe. Changes nothing. @throws {StripeUnavailableError} */
export async function readPlansFromStripe(client: StripeClient, catalogue: Catalogue): Promise<PlanState[]> {
  const expected = listExpectedPrices(catalogue);
  return callStripe(client, async (stripe) => {
    const byKey = new Map<string, { price: StripePrice; product: StripeProduct | undefined }>();
    const leftOver: { id: string; planId: PlanId }[] = [];
    const lookupKeys = new Set(expected.map(({ lookupKey }) => lookupKey));
    const keep = (price: Stripe.Price) => {
      const product = typeof price.product === 'string' ? undefined : knownProduct(price.product);
      if (price.lookup_key !== null && !byKey.has(price.lookup_key))
        byKey.set(price.lookup_key, { price: knownPrice(price), product });
    };
    const expand = ['data.product'];
    for await (const price of stripe.prices.list({ active: true, limit: 100, expand })) {
      const planId = price.metadata[planKey];
      if (price.lookup_key !== null && lookupKeys.has(price.lookup_key)) keep(price);
      else if (planId !== undefined) leftOver.push({ id: price.id, planId: toPlanId(planId) });
    }
    // Archived ones can still hold a lookup key. They are asked for: a list without `active` may have none of them.
    for (let from = 0; from < expected.length; from += maxLookupKeys) {
      const keys = expected.slice(from, from + maxLookupKeys).map(({ lookupKey }) => lookupKey);
      for await (const price of stripe.prices.list({ lookup_keys: keys, active: false, limit: 100, expand }))
        keep(price);
    }
    const states: PlanState[] = [];
    const taken = new Set<string>();
    const ownProduct = async (one: ExpectedPrice) => {
      const created = await orNotFound(stripe.products.retrieve(toProductId(one)));
      return created && knownProduct(created);
    };
    for (const one of expected) {
      const { price, product: ofPrice } = byKey.get(one.lookupKey) ?? {};
      const product = ofPrice && !taken.has(ofPrice.id) ? ofPrice : await ownProduct(one);
      if (product) taken.add(product.id);
      states.push({
        expected: one,
        price,
        product,
        leftOver: leftOver.filter(({ planId }) => planId === one.planId).map(({ id }) => id),
      });
    }
    return states;
  });
}

/** Each can be repeated after a lost answer. @throws Stripe's error */
async function carryOut(stripe: Stripe, expected: ExpectedPrice, act: PlanAct): Promise<void> {
  const metadata = { [planKey]: expected.planId };
  const tax = expected.taxBehaviour === null ? {} : { tax_behavior: expected.taxBehaviour };
  const product = { name: expected.productName, metadata };
  switch (act.act) {
    case 'create product':
      await stripe.products.create({ id: toProductId(expected), ...product }).catch((error: unknown) => {
        // A parallel sync was faster.
        if (toStripeRefusal(error)?.code !== 'resource_already_exists') throw error;
      });
      return;
    case 'change product':
      await stripe.products.update(act.id, { active: true, ...product });
      return;
    case 'mark price':
      await stripe.prices.update(act.id, { metadata });
      return;
    case 'set tax behaviour':
      await stripe.prices.update(act.id, tax);
      return;
    case 'activate price':
      await stripe.prices.update(act.id, { active: true });
      return;
    case 'archive price':
      await stripe.prices.update(act.id, { active: false });
      return;
    case 'create price': {
      const { currency, unitAmount, interval, intervalCount, lookupKey, taxBehaviour } = expected;
      const about = [lookupKey, currency, unitAmount, intervalCount, interval, act.after ?? 'first'];
      const key = [...about, ...(taxBehaviour === null ? [] : [taxBehaviour])].join(':');
      const price = await stripe.prices.create(
        {
          product: act.productId ?? toProductId(expected),
          currency,
          unit_amount: unitAmount,
          recurring: { interval, interval_count: intervalCount },
          lookup_key: lookupKey,
          transfer_lookup_key: true,
          metadata,
          ...tax,
        },
        { idempotencyKey: `foyer:price:${key}` },
      );
      if (act.defaultForProduct !== null)
        await stripe.products.update(act.defaultForProduct, { default_price: price.id });
    }
  }
}

/** Counts the subscriptions that keep a price which another one replaces: Stripe leaves them on it. */
async function countStaying(stripe: Stripe, acts: readonly PlanAct[]): Promise<number> {
  let count = 0;
  for (const act of acts) {
    if (act.act !== 'create price' || act.after === null) continue;
    for await (const _ of stripe.subscriptions.list({ price: act.after, limit: 100 })) count += 1;
  }
  return count;
}

interface SyncedPlan {
  expected: ExpectedPrice;
  /** The differences at Stripe. */
  drift: readonly Drift[];
  /** The steps that were done, or would be. */
  acts: readonly PlanAct[];
  /** The number of members who keep the amount and the interval of the price before. */
  staying: number;
}

/**
 * Makes products and prices at Stripe equal to the catalogue. Users keep the price of their subscription; only new
 * purchases have the new amount.
 * @throws {StripeUnavailableError} if Stripe does not answer, or still differs afterwards
 */
export async function syncPlans(
  client: StripeClient,
  catalogue: Catalogue,
  { dryRun = false }: { dryRun?: boolean } = {},
): Promise<SyncedPlan[]> {
  const states = await readPlansFromStripe(client, catalogue);
  const synced = await callStripe(client, async (stripe) => {
    const plans: SyncedPlan[] = [];
    for (const state of states) {
      const acts = planActions(state);
      const staying = await countStaying(stripe, acts);
      plans.push({ expected: state.expected, drift: findDrift(state), acts, staying });
    }
    return plans;
  });
  if (dryRun || synced.every(({ acts }) => acts.length === 0)) return synced;
  await callStripe(client, async (stripe) => {
    for (const { expected, acts } of synced) for (const act of acts) await carryOut(stripe, expected, act);
  });
  const left = (await readPlansFromStripe(client, catalogue)).filter((state) => findDrift(state).length > 0);
  if (left.length > 0) {
    const names = left.map(({ expected }) => expected.lookupKey).join(', ');
    throw new StripeUnavailableError(`Stripe still differs from the catalogue after the sync: ${names}`);
  }
  return synced;
}
