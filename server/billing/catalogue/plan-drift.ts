import type { PlanId } from '../../shared/index.ts';
import { trialPlanKey } from '../subscription/membership.ts';
import type { BillingPeriod, Catalogue } from './catalogue.ts';

/**
 * The metadata key with which products and prices at Stripe name their plan; also a price that lost its lookup key to a
 * newer one.
 */
export const planKey = 'foyer_plan';

/** The expected price at Stripe of a plan on sale, or of the initial plan. Cents. */
export interface ExpectedPrice {
  /** The plan's id, or `trial`. */
  planId: PlanId;
  lookupKey: string;
  /** The product's name, which invoices show. */
  productName: string;
  currency: string;
  unitAmount: number;
  interval: BillingPeriod['interval'];
  intervalCount: number;
  /** null: no tax, so that every one fits. */
  taxBehaviour: 'inclusive' | 'exclusive' | null;
}

/** The actual price at Stripe. */
export interface StripePrice {
  id: string;
  productId: string;
  active: boolean;
  currency: string;
  /** null: not one whole amount (tiers, fractions of a cent). */
  unitAmount: number | null;
  /** `30 × day`; null: not recurring, or metered. */
  interval: string | null;
  /** Once it is not `unspecified`, Stripe cannot change it. */
  taxBehaviour: string;
  markedAs: string | null;
}
export interface StripeProduct {
  id: string;
  name: string;
  active: boolean;
  defaultPriceId: string | null;
  markedAs: string | null;
}

export interface PlanState {
  expected: ExpectedPrice;
  price: StripePrice | undefined;
  /** Each plan needs its own product: plans that share one could not be distinguished. */
  product: StripeProduct | undefined;
  /** Prices of the plan that an unfinished sync has left active. */
  leftOver: readonly string[];
}

/** The differences between Stripe and the catalogue. */
export type Drift =
  | { what: 'product missing' | 'product archived' | 'price missing' | 'price archived' | 'not marked' }
  | {
      what: 'product name' | 'product' | 'amount' | 'currency' | 'interval' | 'tax behaviour';
      is: string;
      should: string;
    }
  | { what: 'old price still active'; is: string };

/** The steps that make Stripe equal to the catalogue, in this order; each can be repeated. */
export type PlanAct =
  | { act: 'create product' }
  | { act: 'change product'; id: string }
  | { act: 'create price'; productId: string | undefined; after: string | null; defaultForProduct: string | null }
  | { act: 'mark price'; id: string }
  | { act: 'set tax behaviour'; id: string }
  | { act: 'activate price'; id: string }
  | { act: 'archive price'; id: string };

/** The id of a product that is created here, so that two parallel syncs create one. */
export const toProductId = ({ planId }: Pick<ExpectedPrice, 'planId'>) => `foyer_plan_${planId}`;

const intervalText = ({ intervalCount, interval }: Pick<ExpectedPrice, 'interval' | 'intervalCount'>) =>
  `${intervalCount} × ${interval}`;

/** Every price that the catalogue needs at Stripe. */
export function listExpectedPrices({
  currency,
  tax,
  trial,
  plans,
}: Pick<Catalogue, 'currency' | 'tax' | 'trial' | 'plans'>): ExpectedPrice[] {
  const taxBehaviour = tax?.behaviour ?? null;
  const begin: ExpectedPrice = {
    planId: trialPlanKey,
    lookupKey: trial.lookupKey,
    productName: trial.name,
    currency,
    unitAmount: 0,
    interval: 'month',
    intervalCount: 1,
    taxBehaviour,
  };
  const sold = plans.flatMap(({ id, lookupKey, name, type, period, amountCents }): ExpectedPrice[] =>
    lookupKey === null || period === null
      ? []
      : [
          {
            planId: id,
            lookupKey,
            productName: `${name} (${type === '1' ? 'monthly' : 'yearly'})`,
            currency,
            unitAmount: amountCents,
            interval: period.interval,
            intervalCount: period.count,
            taxBehaviour,
          },
        ],
  );
  return [begin, ...sold];
}

/** Properties of a price that Stripe cannot change: a new price must replace it. */
function fixedDrift(expected: ExpectedPrice, price: StripePrice, product: StripeProduct | undefined): Drift[] {
  const drift: Drift[] = [];
  const compare = (what: Extract<Drift, { should: string }>['what'], is: string, should: string) => {
    if (is !== should) drift.push({ what, is, should });
  };
  compare('product', price.productId, product?.id ?? toProductId(expected));
  compare('amount', String(price.unitAmount), String(expected.unitAmount));
  compare('currency', price.currency, expected.currency);
  compare('interval', String(price.interval), intervalText(expected));
  if (expected.taxBehaviour !== null && price.taxBehaviour !== 'unspecified') {
    compare('tax behaviour', price.taxBehaviour, expected.taxBehaviour);
  }
  return drift;
}

/** A price that has no tax behaviour yet gets one, and its subscribers keep it. */
const lacksTaxBehaviour = ({ taxBehaviour: should }: ExpectedPrice, { taxBehaviour: is }: StripePrice): boolean =>
  should !== null && is === 'unspecified';

/** All differences together. */
export function findDrift({ expected, price, product, leftOver }: PlanState): Drift[] {
  const drift: Drift[] = [];
  if (!product) drift.push({ what: 'product missing' });
  else if (!product.active) drift.push({ what: 'product archived' });
  if (product && product.name !== expected.productName)
    drift.push({ what: 'product name', is: product.name, should: expected.productName });
  if (!price) drift.push({ what: 'price missing' });
  else {
    if (!price.active) drift.push({ what: 'price archived' });
    drift.push(...fixedDrift(expected, price, product));
    if (expected.taxBehaviour !== null && lacksTaxBehaviour(expected, price))
      drift.push({ what: 'tax behaviour', is: price.taxBehaviour, should: expected.taxBehaviour });
  }
  if ((product && product.markedAs !== expected.planId) || (price && price.markedAs !== expected.planId))
    drift.push({ what: 'not marked' });
  return [...drift, ...leftOver.map((is): Drift => ({ what: 'old price still active', is }))];
}

function productActions({ expected, product }: PlanState): PlanAct[] {
  if (!product) return [{ act: 'create product' }];
  const isUpToDate = product.active && product.name === expected.productName && product.markedAs === expected.planId;
  return isUpToDate ? [] : [{ act: 'change product', id: product.id }];
}

function priceActions({ expected, price, product }: PlanState): PlanAct[] {
  const create: PlanAct = {
    act: 'create price',
    productId: product?.id,
    after: price?.id ?? null,
    // Stripe cannot archive the default price of a product.
    defaultForProduct: product && price && product.defaultPriceId === price.id ? product.id : null,
  };
  if (!price) return [create];
  // First: once it has lost its lookup key, only its mark names the plan of its subscribers.
  const mark: PlanAct[] = price.markedAs === expected.planId ? [] : [{ act: 'mark price', id: price.id }];
  if (fixedDrift(expected, price, product).length === 0) {
    const taxed: PlanAct[] = lacksTaxBehaviour(expected, price) ? [{ act: 'set tax behaviour', id: price.id }] : [];
    const activated: PlanAct[] = price.active ? [] : [{ act: 'activate price', id: price.id }];
    return [...mark, ...taxed, ...activated];
  }
  return price.active ? [...mark, create, { act: 'archive price', id: price.id }] : [...mark, create];
}

/** The steps for the differences; none if there are none. */
export const planActions = (state: PlanState): PlanAct[] => [
  ...productActions(state),
  ...priceActions(state),
  ...state.leftOver.map((id): PlanAct => ({ act: 'archive price', id })),
];
