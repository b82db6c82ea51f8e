import type { PlanId } from '../../shared/index.ts';
import { StripeUnavailableError } from '../results.ts';
import { callStripe, type StripeClient } from '../stripe/stripe-client.ts';
import { trialPlanKey } from '../subscription/membership.ts';
import type { Catalogue, Plan } from './catalogue.ts';

/** The prices at Stripe of the catalogue's plans. */
export interface Prices {
  /** @throws {StripeUnavailableError} also if `foyer plans sync` has not been run */
  priceIdFor(plan: Plan | 'trial'): Promise<string>;
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
}

interface CachedPrice {
  id: string;
  productId: string;
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
      for (const { id, lookup_key: key, product } of data) {
        if (key !== null) byKey.set(key, { id, productId: typeof product === 'string' ? product : product.id });
      }
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
  return {
    forget() {
      known = undefined;
    },
    priceIdFor: async (plan) => (await find(plan === 'trial' ? catalogue.trial.lookupKey : requireLookupKey(plan))).id,
    productIdFor: async (plan) => (await find(requireLookupKey(plan))).productId,
    async planOfProduct(productId) {
      await find(catalogue.trial.lookupKey);
      for (const [key, price] of known?.byKey ?? []) {
        if (price.productId !== productId) continue;
        return key === catalogue.trial.lookupKey ? trialPlanKey : (catalogue.byLookupKey(key)?.id ?? null);
      }
      return null;
    },
  };
}
