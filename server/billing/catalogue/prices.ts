import type Stripe from 'stripe';
import type { Logger } from '../../http/index.ts';
import type { PlanId } from '../../shared/index.ts';
import type { AnnouncedPrice } from '../jobs/task-store.ts';
import { StripeUnavailableError } from '../results.ts';
import { callStripe, type StripeClient, toStripeRefusal } from '../stripe/stripe-client.ts';
import { toId, toMs } from '../stripe/stripe-objects.ts';
import { trialPlanKey } from '../subscription/membership.ts';
import { type BillingPeriod, type Catalogue, type ChargePeriod, type Plan, toPeriod } from './catalogue.ts';

/** The prices at Stripe of the catalogue's plans. */
export interface Prices {
  /** @throws {StripeUnavailableError} also if `foyer plans sync` has not been run */
  priceIdFor(plan: Plan | 'trial'): Promise<string>;
  /** The same, with the length of its period. @throws {StripeUnavailableError} */
  priceFor(plan: Plan): Promise<PlanPrice>;
  /** An operator has changed an amount: clears the cache. */
  forget(): void;
  /** The product of a plan, for coupons that are limited to some products. */
  productIdFor(plan: Plan): Promise<string>;
  /**
   * The plan of a product, `trialPlan` for the initial one; null: not in the catalogue. Products stay when an amount
   * changes; prices do not.
   * @throws {StripeUnavailableError}
   */
  planOfProduct(productId: string): Promise<PlanId | null>;
  /** The plan of a price, which may be archived. @throws {StripeUnavailableError} */
  planOfPrice(priceId: string): Promise<PlanId | null>;
  /** The period of a price, which may be archived; null: the catalogue knows none like it. @throws {StripeUnavailableError} */
  findPeriod(priceId: string): Promise<BillingPeriod | null>;
}

type Interval = 'day' | 'week' | 'month' | 'year';

interface PlanPrice {
  id: string;
  recurring: { interval: Interval; interval_count: number };
}

interface CachedPrice extends PlanPrice {
  productId: string;
}

const intervals: readonly Interval[] = ['day', 'week', 'month', 'year'];

function toCachedPrice({ id, product, recurring }: Stripe.Price): CachedPrice {
  const interval = intervals.find((one) => one === recurring?.interval) ?? 'month';
  return { id, productId: toId(product), recurring: { interval, interval_count: recurring?.interval_count ?? 1 } };
}

const keptMs = 5 * 60_000;
const maxLookupKeys = 10;

export function createPrices(client: StripeClient, catalogue: Catalogue, now: () => number): Prices {
  let known: { byKey: Map<string, CachedPrice>; atMs: number } | undefined;
  const keys = [catalogue.trial.lookupKey, ...catalogue.plans.flatMap(({ lookupKey }) => lookupKey ?? [])];

  async function read(): Promise<Map<string, CachedPrice>> {
    const byKey = new Map<string, CachedPrice>();
    for (let from = 0; from < keys.length; from += maxLookupKeys) {
      const lookupKeys = keys.slice(from, from + maxLookupKeys);
      const { data } = await callStripe(client, (stripe) =>
        stripe.prices.list({ lookup_keys: lookupKeys, active: true, limit: 100 }),
      );
      for (const price of data) if (price.lookup_key !== null) byKey.set(price.lookup_key, toCachedPrice(price));
    }
    return byKey;
  }

  async function find(lookupKey: string): Promise<CachedPrice> {
    if (!known || now() - known.atMs > keptMs || !known.byKey.has(lookupKey))
      known = { byKey: await read(), atMs: now() };
    const price = known.byKey.get(lookupKey);
    if (!price) throw new StripeUnavailableError(`Stripe has no active price ${lookupKey}: run \`foyer plans sync\``);
    return price;
  }

  const requireLookupKey = (plan: Plan) => {
    if (plan.lookupKey === null) throw new Error(`plan ${plan.id} is not sold`);
    return plan.lookupKey;
  };
  async function planOfProduct(productId: string): Promise<PlanId | null> {
    await find(catalogue.trial.lookupKey);
    for (const [key, price] of known?.byKey ?? []) {
      if (price.productId !== productId) continue;
      return key === catalogue.trial.lookupKey ? trialPlanKey : (catalogue.byLookupKey(key)?.id ?? null);
    }
    return null;
  }
  /** Archived prices, whose product and period never change. */
  const archived = new Map<string, CachedPrice>();
  async function findById(priceId: string): Promise<CachedPrice> {
    await find(catalogue.trial.lookupKey);
    const current = [...(known?.byKey.values() ?? [])].find(({ id }) => id === priceId) ?? archived.get(priceId);
    if (current) return current;
    const read = toCachedPrice(await callStripe(client, (stripe) => stripe.prices.retrieve(priceId)));
    archived.set(priceId, read);
    return read;
  }
  return {
    forget() {
      known = undefined;
    },
    priceIdFor: async (plan) => (await find(plan === 'trial' ? catalogue.trial.lookupKey : requireLookupKey(plan))).id,
    productIdFor: async (plan) => (await find(requireLookupKey(plan))).productId,
    priceFor: (plan) => find(requireLookupKey(plan)),
    planOfProduct,
    planOfPrice: async (priceId) => planOfProduct((await findById(priceId)).productId),
    async findPeriod(priceId) {
      const { interval, interval_count: count } = (await findById(priceId)).recurring;
      return interval === 'week' ? null : { interval, count };
    },
  };
}

/** Stripe refuses an archived price on an item, so it is activated for the duration of the call. */
export async function whileActive(
  { stripe, log }: { stripe: StripeClient; log: Logger },
  priceId: string,
  act: () => Promise<void>,
): Promise<void> {
  const { active } = await callStripe(stripe, (client) => client.prices.retrieve(priceId));
  if (active) return act();
  await callStripe(stripe, (client) => client.prices.update(priceId, { active: true }));
  try {
    await act();
  } finally {
    await callStripe(stripe, (client) => client.prices.update(priceId, { active: false })).catch((error: unknown) =>
      // The next sync of the plans archives it.
      log.warn({ err: error, act: 'price', price: priceId }, 'former price is still active'),
    );
  }
}

/** @throws {StripeUnavailableError} */
export const readAnnouncedPrices = (prices: Prices, plans: readonly (Plan | undefined)[]): Promise<AnnouncedPrice[]> =>
  Promise.all(
    plans.flatMap((plan) => (plan ? [prices.priceIdFor(plan).then((priceId) => ({ planId: plan.id, priceId }))] : [])),
  );

/**
 * Does what was announced at these prices, also if an operator has raised one since.
 * @throws {StripeUnavailableError}
 */
export async function atAnnouncedPrices<
  Deps extends { stripe: StripeClient; log: Logger; prices: Prices; catalogue: Catalogue },
>(deps: Deps, announced: readonly AnnouncedPrice[], act: (deps: Deps) => Promise<void>): Promise<void> {
  const { stripe, catalogue, prices } = deps;
  const former = new Map<PlanId, PlanPrice>();
  for (const { planId, priceId } of announced) {
    const plan = catalogue.byId(planId);
    if (!plan || (await prices.priceIdFor(plan)) === priceId) continue;
    former.set(planId, toCachedPrice(await callStripe(stripe, (client) => client.prices.retrieve(priceId))));
  }
  const own: Prices = {
    ...prices,
    priceFor: async (plan) => former.get(plan.id) ?? prices.priceFor(plan),
    priceIdFor: async (plan) => (plan === 'trial' ? undefined : former.get(plan.id)?.id) ?? prices.priceIdFor(plan),
  };
  const inner = () => act({ ...deps, prices: own });
  await [...former.values()].reduce(
    (rest, { id }) =>
      () =>
        whileActive(deps, id, rest),
    inner,
  )();
}

/** If Stripe refuses the first preview, its prices are read again before the second. @throws {StripeUnavailableError} */
export async function withPresentPrices<T>(
  { prices }: { prices: Pick<Prices, 'forget'> },
  first: () => Promise<T>,
  second = first,
): Promise<T> {
  try {
    return await first();
  } catch (error) {
    if (toStripeRefusal(error)?.type !== 'StripeInvalidRequestError') throw error;
    prices.forget();
  }
  try {
    return await second();
  } catch (error) {
    const refusal = toStripeRefusal(error);
    throw refusal ? new StripeUnavailableError(refusal.message, { cause: error }) : error;
  }
}

/**
 * Stripe counts periods from the anchor: after February 28 comes March 31. Another interval begins with a new anchor.
 * @param price of the subscription until then
 */
export function withAnchor(
  period: BillingPeriod | null,
  price: Parameters<typeof toPeriod>[0] | null,
  { billing_cycle_anchor: anchor }: Pick<Stripe.Subscription, 'billing_cycle_anchor'>,
): ChargePeriod | null {
  const before = price && toPeriod(price);
  const goesOn = period !== null && before?.interval === period.interval && before.count === period.count;
  return goesOn ? { ...period, anchorMs: toMs(anchor) } : period;
}
