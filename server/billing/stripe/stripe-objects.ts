import type Stripe from 'stripe';
import { isItemIn } from '../../shared/index.ts';
import type { MemberPause } from '../subscription/coming-acts.ts';
import type {
  AppliedDiscount,
  CustomerDiscount,
  SavedCard,
  SubscriptionPrice,
  SubscriptionStatus,
} from '../subscription/membership.ts';

// Converts Stripe's objects: milliseconds instead of seconds, ids instead of expandable objects.

export const toMs = (seconds: number): number => seconds * 1000;
export const toMsOrNull = (seconds: number | null | undefined): number | null =>
  seconds == null ? null : toMs(seconds);

/** The id, whether or not the object is expanded. */
export const toId = (item: string | { id: string }): string => (typeof item === 'string' ? item : item.id);

const statuses = [
  'trialing',
  'active',
  'past_due',
  'paused',
  'unpaid',
  'incomplete',
  'incomplete_expired',
  'canceled',
] as const satisfies readonly SubscriptionStatus[];

export function toSubscriptionStatus({ status }: { status: string }): SubscriptionStatus {
  if (!isItemIn(statuses, status))
    throw new Error(`Stripe has a status of subscriptions that is not known here: ${status}`);
  return status;
}

/** One seat is stored as null, as it is for plans without seats. */
export const toStoredSeats = (quantity: number | undefined): number | null =>
  quantity === undefined || quantity === 1 ? null : quantity;

export function toPrice(
  { automatic_tax: automatic, default_tax_rates: rates }: Stripe.Subscription,
  { price, quantity, tax_rates: ownRates }: Stripe.SubscriptionItem,
): SubscriptionPrice {
  const { id, unit_amount: unit, currency, recurring, tax_behavior: behaviour } = price;
  const isTaxed = automatic.enabled || [...(rates ?? []), ...(ownRates ?? [])].length > 0;
  const tax = isTaxed ? (['inclusive', 'exclusive'] as const).find((one) => one === behaviour) : undefined;
  return {
    id,
    amountCents: (unit ?? 0) * (quantity ?? 1),
    currency,
    interval: recurring?.interval ?? 'month',
    intervalCount: recurring?.interval_count ?? 1,
    ...(tax && { tax }),
  };
}

/** An ended subscription cannot be restarted. */
export const isEnded = (status: SubscriptionStatus): boolean =>
  status === 'canceled' || status === 'incomplete_expired';

/** The known subscription; if it has ended, any other running one, else the last. */
export function findSubscription(
  { subscriptions }: { subscriptions: readonly Stripe.Subscription[] },
  knownId: string | null,
): Stripe.Subscription | undefined {
  const known = subscriptions.find(({ id }) => id === knownId);
  if (known && !isEnded(toSubscriptionStatus(known))) return known;
  // After the end of the known subscription, a running one of the same customer.
  return subscriptions.find((one) => !isEnded(toSubscriptionStatus(one))) ?? known ?? subscriptions[0];
}

const shownWallets: ReadonlySet<string> = new Set(['apple_pay', 'google_pay']);

/** The metadata key of a SEPA debit with the method by which it was agreed: Stripe only keeps the attempt's id. */
export const agreedByKey = 'foyer_agreed_by';

export function toSavedCard(method: string | Stripe.PaymentMethod | null | undefined): SavedCard | null {
  if (!method || typeof method === 'string') return null;
  const { id: paymentMethodId, type, card, sepa_debit: debit, metadata } = method;
  if (card) {
    const { brand, last4, exp_month: expMonth, exp_year: expYear, wallet } = card;
    const brandName = wallet && shownWallets.has(wallet.type) ? `${wallet.type}/${brand}` : brand;
    return { paymentMethodId, brand: brandName, lastFour: last4, expMonth, expYear };
  }
  const none = { expMonth: null, expYear: null };
  if (debit) {
    const brand = metadata?.[agreedByKey] ?? 'sepa_debit';
    return { paymentMethodId, brand, lastFour: debit.last4 ?? '', ...none };
  }
  return type === 'link' ? { paymentMethodId, brand: 'link', lastFour: '', ...none } : null;
}

/** @param discount with its coupon and promotion code expanded */
export function toAppliedDiscount(discount: string | Stripe.Discount | undefined): AppliedDiscount | null {
  if (!discount || typeof discount === 'string') return null;
  const { coupon } = discount.source;
  if (!coupon || typeof coupon === 'string') return null;
  const { promotion_code: promotion } = discount;
  return {
    ...discountOfCoupon(coupon),
    code: promotion && typeof promotion !== 'string' ? promotion.code : coupon.id,
    promotionCodeId: promotion ? toId(promotion) : null,
    endsAt: toMsOrNull(discount.end),
  };
}

/** @param customer with the coupon and the promotion code of its discount expanded */
export function toCustomerDiscount({ discount }: Stripe.Customer): CustomerDiscount | null {
  const applied = toAppliedDiscount(discount ?? undefined);
  return applied && discount ? { ...applied, discountId: discount.id } : null;
}

const durations = ['once', 'forever', 'repeating'] as const;

export function discountOfCoupon(coupon: Stripe.Coupon): AppliedDiscount {
  return {
    code: coupon.id,
    couponId: coupon.id,
    promotionCodeId: null,
    percentOff: coupon.percent_off,
    amountOffCents: coupon.amount_off,
    duration: durations.find((one) => one === coupon.duration) ?? 'once',
    endsAt: null,
    months: coupon.duration_in_months,
  };
}

/** The key of a pause that the user has asked for; an operator's has another. */
export const pauseKey = 'foyer_member';

/** From when it is scheduled until the subscription is resumed. @param subscription with its schedule expanded */
export function toMemberPause(subscription: Stripe.Subscription): MemberPause | null {
  const entry = findSchedule(subscription)?.pause_schedules.find(({ key }) => key === pauseKey);
  if (!entry?.resume || entry.resume.status.type === 'succeeded') return null;
  // One that Stripe could not begin is none.
  if (entry.pause.status.type !== 'scheduled' && subscription.status !== 'paused') return null;
  return { pausesAt: toMs(entry.pause.pause_at), resumesAt: toMs(entry.resume.resume_at) };
}

// A subscription schedule is how Stripe keeps a change that takes effect at the period's end.

type SchedulePhase = Stripe.SubscriptionSchedule.Phase;

/** The schedule that manages a subscription. @param subscription with its schedule expanded */
export function findSchedule({ id, schedule }: Stripe.Subscription): Stripe.SubscriptionSchedule | undefined {
  if (typeof schedule === 'string') throw new Error(`the schedule of the subscription ${id} was not read`);
  return schedule ?? undefined;
}

/** The phase that runs; undefined: the schedule does not run. */
export function runningPhase({ phases, current_phase }: Stripe.SubscriptionSchedule): SchedulePhase | undefined {
  return phases.find(({ start_date }) => start_date === current_phase?.start_date);
}

/** The phases that begin later. */
export function laterPhases(schedule: Stripe.SubscriptionSchedule): SchedulePhase[] {
  const running = runningPhase(schedule);
  return running ? schedule.phases.filter(({ start_date }) => start_date > running.start_date) : [];
}

/** The state of a subscription after its period, without another act. */
interface PlannedChange {
  /** It ends. */
  ends: boolean;
  /** The price from then on; undefined: the same. */
  nextPriceId: string | undefined;
  /** The quantity with that price. */
  nextSeats?: number;
}

export const toProductId = (item: Stripe.SubscriptionItem | undefined): string | undefined =>
  item && toId(item.price.product);

/** The end of the running period, or of the subscription within it. */
export function findPeriodEnd({ cancel_at: endsAt, items }: Stripe.Subscription): number | null {
  const periodEnd = items.data[0]?.current_period_end;
  return toMsOrNull(periodEnd === undefined || endsAt === null ? periodEnd : Math.min(periodEnd, endsAt));
}

/** @param periodEnd seconds since the epoch */
export function plannedChange(subscription: Stripe.Subscription, periodEnd: number): PlannedChange {
  const { cancel_at_period_end: ends, cancel_at: endsAt } = subscription;
  const schedule = findSchedule(subscription);
  if (!schedule) return { ends: ends || (endsAt !== null && endsAt <= periodEnd), nextPriceId: undefined };
  const running = runningPhase(schedule);
  if (!running || running.end_date > periodEnd) return { ends: false, nextPriceId: undefined };
  const next = schedule.phases.find(({ start_date }) => start_date === running.end_date)?.items[0];
  if (next) return { ends: false, nextPriceId: toId(next.price), nextSeats: next.quantity ?? 1 };
  return { ends: schedule.end_behavior === 'cancel', nextPriceId: undefined };
}

/** The reasons of refused payments that pages say in their own language. */
type DeclineReason =
  | 'declined'
  | 'funds'
  | 'expired'
  | 'code'
  | 'number'
  | 'unsupported'
  | 'authentication'
  | 'notAuthenticated'
  | 'processing'
  | 'debit';

/** A refused payment, or a refused payment method. */
export interface Decline {
  /** The card provider's own, in English. */
  message: string;
  /** undefined: another one. */
  reason?: DeclineReason | undefined;
}

/**
 * Stripe's codes, of a bank's decline (https://docs.stripe.com/declines/codes) and of an error
 * (https://docs.stripe.com/error-codes). A lost or stolen card is a declined one: its holder is not told more.
 */
export const declineReasons: Readonly<Record<string, DeclineReason>> = {
  authentication_required: 'authentication',
  payment_intent_authentication_failure: 'notAuthenticated',
  setup_intent_authentication_failure: 'notAuthenticated',
  insufficient_funds: 'funds',
  withdrawal_count_limit_exceeded: 'funds',
  expired_card: 'expired',
  invalid_expiry_month: 'expired',
  invalid_expiry_year: 'expired',
  incorrect_cvc: 'code',
  invalid_cvc: 'code',
  incorrect_number: 'number',
  invalid_number: 'number',
  card_not_supported: 'unsupported',
  currency_not_supported: 'unsupported',
  processing_error: 'processing',
  issuer_not_available: 'processing',
  reenter_transaction: 'processing',
  try_again_later: 'processing',
  card_declined: 'declined',
};

/** Stripe's error of a failed attempt. */
interface StripeDecline {
  code?: string | undefined;
  decline_code?: string | undefined;
  message?: string | undefined;
  payment_method?: { type: string } | undefined;
}

/** @param error null: Stripe names none */
export function toDecline(error: StripeDecline | null | undefined): Decline {
  const message = error?.message ?? '';
  if (!error) return { message };
  // Its bank gives reasons of its own, none of which is a card's.
  if (error.payment_method?.type === 'sepa_debit') return { message, reason: 'debit' };
  const { code = '', decline_code: declineCode = '' } = error;
  return { message, reason: declineReasons[declineCode] ?? declineReasons[code] };
}

/** Smallest charges at Stripe that are not 50 cents (https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts). */
const smallestCharges: ReadonlyMap<string, number> = new Map([
  ['aed', 200],
  ['bgn', 100],
  ['czk', 1_500],
  ['dkk', 250],
  ['gbp', 30],
  ['hkd', 400],
  ['mxn', 1_000],
  ['myr', 200],
  ['nok', 300],
  ['pln', 200],
  ['ron', 200],
  ['sek', 300],
  ['thb', 1_000],
]);

/** Stripe charges no less. */
export const smallestCharge = (currency: string): number => smallestCharges.get(currency) ?? 50;

/** An amount that is too small is owed with the charge after it. */
export const toChargeable = (cents: number, currency: string): number => (cents < smallestCharge(currency) ? 0 : cents);

/** The rest that a charge leaves to the one after it: below 0 credit, above 0 an amount that is too small. */
export const leftAfter = (cents: number, currency: string): number => cents - toChargeable(cents, currency);

/** The invoice of a renewal that Stripe is going to finalize. @param subscription with its latest invoice expanded */
export function findDraft({ latest_invoice: latest }: Stripe.Subscription): Stripe.Invoice | undefined {
  return typeof latest === 'object' && latest?.status === 'draft' && latest.auto_advance ? latest : undefined;
}

/** The balance that is left for the next charge: the draft of a renewal takes up the present one when it is finalized. */
export function nextBalance({ balance }: Stripe.Customer, subscription: Stripe.Subscription): number {
  const draft = findDraft(subscription);
  if (!draft) return balance;
  return leftAfter(draft.total + balance, draft.currency);
}
