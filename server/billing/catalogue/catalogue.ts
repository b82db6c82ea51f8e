import type { PlanEnd, PlansFile, PlansFileLanguage } from '../../../config/plans.ts';
import { addMonths, dayMs, type PlanId, type PlanKey, toPlanId, toPlanKey } from '../../shared/index.ts';

/** The specification's planType: '1' monthly, '2' yearly. */
export type PlanType = '1' | '2';

/** The specification's validity of an order: no date comes from it, because Stripe's period may be a calendar month. */
export const validityDays: Record<PlanType, number> = { '1': 30, '2': 365 };

/** The time between two charges, as Stripe's prices have it. */
export interface BillingPeriod {
  interval: 'day' | 'month' | 'year';
  count: number;
}

const intervals = ['day', 'month', 'year'] as const;

/** The period of a price; null: none of a plan's. */
export function toPeriod({
  interval,
  intervalCount: count,
}: {
  interval: string;
  intervalCount: number;
}): BillingPeriod | null {
  const known = intervals.find((one) => one === interval);
  return known ? { interval: known, count } : null;
}

/** The period between charges. `anchorMs`: each is on the day of the month of this one, as far as the month has it. */
export type ChargePeriod = BillingPeriod & { anchorMs?: number };

/** The time after so many periods. Milliseconds. */
export function addPeriods(fromMs: number, { interval, count, anchorMs = fromMs }: ChargePeriod, periods = 1): number {
  if (interval === 'day') return fromMs + periods * count * dayMs;
  return addMonths(fromMs, (interval === 'year' ? 12 : 1) * periods * count, new Date(anchorMs).getUTCDate());
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
  /** 0 unless it is paid; of one seat, or of all that were chosen. */
  amountCents: number;
  /** How many seats a user can choose; null: the plan is not sold by the seat. */
  seats: { min: number; max: number } | null;
  /** Whose amount this is; undefined: not chosen yet, or without seats. */
  chosenSeats?: number | undefined;
  /** The free days before the first charge, for a user who may have them; null: none. */
  trialDays: number | null;
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
  /** The plans that codes can give, and for how many months, the fewest first; undefined: there are no gifts. */
  gifts: { plans: readonly Plan[]; months: readonly number[] } | undefined;
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

/** The amount of one seat, or of a plan without seats. */
const unitCents = ({ amountCents, chosenSeats = 1 }: Plan): number => amountCents / chosenSeats;

/** A plan with so many seats and their amount; one without seats stays as it is. */
export function withSeats(plan: Plan, seats: number): Plan {
  if (plan.seats === null || seats === plan.chosenSeats) return plan;
  return { ...plan, chosenSeats: seats, amountCents: unitCents(plan) * seats };
}

/** A plan for one seat, as it is offered. */
export function ofOneSeat(plan: Plan): Plan {
  return plan.chosenSeats === undefined ? plan : { ...plan, chosenSeats: undefined, amountCents: unitCents(plan) };
}

/** The plan that a gift gives at this time; undefined: none. */
export function findGiven(
  { giftPlanId, giftUntil }: { giftPlanId?: PlanId | null; giftUntil?: number | null },
  { byId }: Pick<Catalogue, 'byId'>,
  nowMs: number,
): { plan: Plan; until: number } | undefined {
  const plan = giftUntil != null && nowMs < giftUntil ? byId(giftPlanId) : undefined;
  return plan && giftUntil != null ? { plan, until: giftUntil } : undefined;
}

/** A stored plan with its seats. @param seats null: one */
export function findPlan(
  { byId }: Pick<Catalogue, 'byId'>,
  id: PlanId | null | undefined,
  seats: number | null | undefined,
): Plan | undefined {
  const plan = byId(id);
  return plan && withSeats(plan, seats ?? 1);
}

/** The seats that a user has of the plan that they pay. */
interface OwnSeats {
  pricedPlanId: PlanId | null;
  /** The quantity of the subscription's item. */
  seats: number | null;
}

/** The number of seats that a plan begins with: that of the plan before, as far as this one allows it. */
export function proposedSeats(
  { byId }: Pick<Catalogue, 'byId'>,
  { id, seats: range }: Plan,
  own: OwnSeats | undefined,
): number | undefined {
  if (range === null) return undefined;
  const before = byId(own?.pricedPlanId)?.seats ? (own?.seats ?? 1) : range.min;
  return own?.pricedPlanId === id ? before : Math.min(range.max, Math.max(range.min, before));
}

/** Tests for the plan, with its seats, that follows at the period's end. */
export const isNext = (
  { nextPlanId, nextSeats }: { nextPlanId: PlanId | null; nextSeats: number | null },
  { id, chosenSeats = 1 }: Pick<Plan, 'id' | 'chosenSeats'>,
): boolean => nextPlanId === id && (nextSeats ?? 1) === chosenSeats;

/** The quantity of the subscription's item on a plan; undefined: it stays as it is. */
export const toQuantity = ({ byId }: Pick<Catalogue, 'byId'>, plan: Plan, own: Pick<OwnSeats, 'pricedPlanId'>) =>
  plan.chosenSeats ?? (own.pricedPlanId !== plan.id && byId(own.pricedPlanId)?.seats ? 1 : undefined);

/** The number of seats in a form; undefined: not one that the plan allows. */
export function parseSeats({ seats }: Plan, typed: string): number | undefined {
  const number = /^[1-9]\d{0,4}$/.test(typed.trim()) ? Number(typed) : Number.NaN;
  return seats !== null && number >= seats.min && number <= seats.max ? number : undefined;
}

/** The position of a paid plan among those with the same interval, from 0: a higher one is an upgrade. */
export function planRank({ plans }: Pick<Catalogue, 'plans'>, plan: Plan): number {
  const cents = unitCents(plan);
  return plans.filter((one) => one.kind === 'paid' && one.type === plan.type && one.amountCents < cents).length;
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

function toGifts({ gifts }: PlansFile, plans: readonly Plan[]): Catalogue['gifts'] {
  if (!gifts) return undefined;
  const isGiven = ({ id, kind, seats }: Plan) =>
    kind === 'paid' && seats === null && (gifts.plans?.includes(id) ?? true);
  return { plans: plans.filter(isGiven), months: gifts.months.toSorted((one, other) => one - other) };
}

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
      seats: (one.kind === 'paid' && one.seats) || null,
      trialDays: (one.kind === 'paid' && one.trialDays) || null,
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
    gifts: toGifts(file, plans),
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
