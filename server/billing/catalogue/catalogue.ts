import type { PlanEnd, PlansFile, PlansFileLanguage } from '../../../config/plans.ts';
import { type PlanId, type PlanKey, toPlanId, toPlanKey } from '../../shared/index.ts';

/** The specification's planType: '1' monthly, '2' yearly. */
export type PlanType = '1' | '2';

/** The specification's validity of an order: no date comes from it, because Stripe's period may be a calendar month. */
export const validityDays: Record<PlanType, number> = { '1': 30, '2': 365 };

/** The time between two charges, as Stripe's prices have it. */
export interface BillingPeriod {
  interval: 'day' | 'month' | 'year';
  count: number;
}

const periodsByType: Record<PlansFile['periods'], Record<PlanType, BillingPeriod>> = {
  calendar: { '1': { interval: 'month', count: 1 }, '2': { interval: 'year', count: 1 } },
  days: {
    '1': { interval: 'day', count: validityDays['1'] },
    '2': { interval: 'day', count: validityDays['2'] },
  },
};

export interface Plan {
  id: PlanId;
  /** `m-99`: the last part of the completion page's address. */
  code: string;
  /** The public handle in addresses (the specification's plan hash). */
  planKey: PlanKey;
  name: string;
  kind: 'paid' | 'free' | 'partner';
  /** null: a partner's plan, which does not end. */
  type: PlanType | null;
  /** null: as for the type. */
  period: BillingPeriod | null;
  /** 0 unless it is paid. */
  amountCents: number;
  /** The lookup key of its price at Stripe; null unless it is paid. */
  lookupKey: string | null;
  /** 1 to 3 for a partner's. */
  tier: number | null;
  /** Marked as the plan of its interval that most members choose. */
  isMostChosen: boolean;
  entitlements: readonly string[];
  summary(lang: PlansFileLanguage): string;
  features(lang: PlansFileLanguage): readonly string[];
}

interface Trial {
  lookupKey: string;
  name: string;
  days: number;
  postSignUpDays: number;
  entitlements: readonly string[];
  features(lang: PlansFileLanguage): readonly string[];
}

export interface Catalogue {
  currency: string;
  graceDays: number;
  renewalNoticeDays: readonly number[];
  onDispute: PlanEnd;
  onFullRefund: PlanEnd;
  cancel: PlansFile['cancel'];
  /** For how many months a user can pause a paid plan, the fewest first; []: not at all. */
  pauseMonths: readonly number[];
  /** How long a user can withdraw from a purchase; undefined: not at all. */
  withdrawalDays: number | undefined;
  /** A withdrawal gives back everything, or all but the share of the days until then. */
  withdrawalRefund: 'full' | 'prorated';
  /**
   * How a yearly plan goes on after its year: by the month, or by another year that ends on a month's notice with a refund
   * of the rest; undefined: by another year.
   */
  afterYear: 'monthly' | 'year-with-refund' | undefined;
  /** undefined: no tax. */
  tax: PlansFile['tax'];
  /**
   * Nothing is charged without a country and a postal code: the tax follows from them, and consumers have the rights of
   * their country.
   */
  needsBillingDetails: boolean;
  trial: Trial;
  /** In the order of the file. */
  plans: readonly Plan[];
  defaultPlan: Plan;
  /** Codes of plans that are no longer sold. */
  formerCodes: ReadonlySet<string>;
  byId(id: PlanId | null | undefined): Plan | undefined;
  byKey(planKey: PlanKey): Plan | undefined;
  byCode(code: string): Plan | undefined;
  byLookupKey(lookupKey: string): Plan | undefined;
  ofTier(tier: number): Plan | undefined;
}

/** The position of a paid plan among those with the same interval, from 0: a higher one is an upgrade. */
export function planRank({ plans }: Pick<Catalogue, 'plans'>, plan: Plan): number {
  return plans.filter((one) => one.kind === 'paid' && one.type === plan.type && one.amountCents < plan.amountCents)
    .length;
}

/** The monthly plan as which a yearly one goes on after its year (section 309 no. 9 BGB); undefined: it renews as it is. */
export function planAfterYear(
  { plans, afterYear }: Pick<Catalogue, 'plans' | 'afterYear'>,
  plan: Plan | undefined,
): Plan | undefined {
  if (afterYear !== 'monthly' || plan?.kind !== 'paid' || plan.type !== '2') return undefined;
  return plans.find(({ kind, type, name }) => kind === 'paid' && type === '1' && name === plan.name);
}

/** Of the quote of a purchase. */
interface Owed {
  isNewContract?: boolean;
  dueCents: number;
  usedCreditCents: number;
}

/**
 * Tests whether the user must ask that the plan begins at once: without that request nothing is owed for the days until a
 * withdrawal (Directive 2011/83/EU, articles 7 (3) and 14).
 */
export const needsRequestToBegin = (
  { withdrawalDays, withdrawalRefund }: Pick<Catalogue, 'withdrawalDays' | 'withdrawalRefund'>,
  { isNewContract, dueCents, usedCreditCents }: Owed,
): boolean =>
  withdrawalDays !== undefined &&
  withdrawalRefund === 'prorated' &&
  isNewContract === true &&
  (dueCents > 0 || usedCreditCents > 0);

export function createCatalogue(file: PlansFile): Catalogue {
  const plans = file.plans.map(
    (one): Plan => ({
      id: toPlanId(one.id),
      code: one.code,
      planKey: toPlanKey(one.planHash),
      name: one.name,
      kind: one.kind,
      type: one.kind === 'partner' ? null : one.planType,
      period: one.kind === 'partner' ? null : periodsByType[file.periods][one.planType],
      amountCents: one.kind === 'paid' ? one.planAmount * 100 : 0,
      lookupKey: one.kind === 'paid' ? (one.lookupKey ?? one.code) : null,
      tier: one.kind === 'partner' ? one.tier : null,
      isMostChosen: one.kind !== 'partner' && one.mostChosen,
      entitlements: one.entitlements,
      summary: (lang) => one.summary[lang] ?? one.summary.en,
      features: (lang) => one.features[lang] ?? one.features.en,
    }),
  );
  const find = (what: (plan: Plan) => boolean) => plans.find(what);
  const defaultPlan = find(({ id }) => id === file.defaultPlan);
  if (!defaultPlan) throw new Error('the catalogue was not checked: its default plan is missing');
  return {
    currency: file.currency,
    graceDays: file.graceDays,
    renewalNoticeDays: file.renewalNoticeDays,
    onDispute: file.onDispute,
    onFullRefund: file.onFullRefund,
    cancel: file.cancel,
    pauseMonths: (file.pause?.months ?? []).toSorted((one, other) => one - other),
    withdrawalDays: file.consumers?.withdrawalDays,
    withdrawalRefund: file.consumers?.refund ?? 'full',
    afterYear: file.consumers?.afterYear,
    tax: file.tax,
    needsBillingDetails: file.consumers !== undefined || file.tax?.automatic === true,
    trial: { ...file.trial, features: (lang) => file.trial.features[lang] ?? file.trial.features.en },
    plans,
    defaultPlan,
    formerCodes: new Set(file.formerCodes),
    byId: (id) => (id == null ? undefined : find((plan) => plan.id === id)),
    byKey: (planKey) => find((plan) => plan.planKey === planKey),
    byCode: (code) => find((plan) => plan.code === code),
    byLookupKey: (key) => find((plan) => plan.lookupKey === key),
    ofTier: (tier) => find((plan) => plan.tier === tier),
  };
}
