import { addMonths, type PlanId, type StripeInvoiceId, toPlanId } from '../../shared/index.ts';
import type { Row } from '../../store/index.ts';
import type { BillingTask, BillingTaskKind } from '../jobs/task-store.ts';
import type { MemberPause, RefundAtEnd } from './coming-acts.ts';
import { isTrying } from './plan-trial-rules.ts';

/** The membership of a user, for pages and calls. Times in milliseconds since the epoch, amounts in cents. */

/** The only known data of the charged card, or of another payment method in its place. */
export interface SavedCard {
  paymentMethodId: string;
  /** Stripe's, with a wallet: `visa`, `apple_pay/visa`. Else `link`, or how a debit was agreed: `sepa_debit`, `ideal`. */
  brand: string;
  /** Of the card or the account; '' for Link. */
  lastFour: string;
  /** null: not a card. */
  expMonth: number | null;
  expYear: number | null;
}

/** Tests for a debit, whose bank answers after days. Stripe takes it for no pending update. */
export const isDebit = (card: Pick<SavedCard, 'brand' | 'expYear'> | null): boolean =>
  card !== null && card.expYear === null && card.brand !== 'link';

/** A discount on the subscription, or on its customer. */
export interface AppliedDiscount {
  /** The promotion code as Stripe has it, else the coupon's id. */
  code: string;
  couponId: string;
  promotionCodeId: string | null;
  percentOff: number | null;
  amountOffCents: number | null;
  duration: 'once' | 'forever' | 'repeating';
  /** End of a repeating discount. */
  endsAt: number | null;
  /** Length of a repeating discount; omitted in data of earlier releases. */
  months?: number | null;
}

/** A discount that an operator has given the customer: it applies while the subscription has none of its own. */
export interface CustomerDiscount extends AppliedDiscount {
  discountId: string;
}

/** The price of the subscription's item, which stays when the catalogue changes. */
export interface SubscriptionPrice {
  id: string;
  amountCents: number;
  currency: string;
  /** Stripe's: day, week, month, year. */
  interval: string;
  intervalCount: number;
  /** Whether the tax of its charges is in the amount or is added to it; undefined: they have none, or not read yet. */
  tax?: 'inclusive' | 'exclusive' | undefined;
}

/**
 * The charge that Stripe makes next without another act of the user: every announced renewal comes from it. Amounts are
 * Stripe's, from a preview.
 */
export interface NextCharge {
  amountCents: number;
  /** The amount after the discount has ended; null: unknown. */
  regularCents: number | null;
  /** The amount of each charge with its discount, without the balance, where tax is added to it. */
  eachCents?: number | undefined;
  /** The first amount after the discount has ended, if it is another one: credit or a debt is left for it. */
  firstRegularCents?: number | undefined;
  /** Its time; the discount may end before. undefined: unknown. */
  firstRegularAt?: number | undefined;
  /** The discount has an end, and the charge after this one has it too. */
  isDiscountKept?: true | undefined;
  /** Of this charge, and too small for Stripe: it is added to the charge after it. Omitted: nothing. */
  carriedCents?: number | undefined;
  discountCents: number;
  /** null: no discount, or one without an end. */
  discountEndsAt: number | null;
  taxCents: number;
  /** Paid from the user's credit, and not in `amountCents`. */
  creditUsedCents: number;
  currency: string;
  at: number | null;
  /** Stripe's facts at the time of the preview: it is asked for again when they change. */
  basis?: string;
}

type LaterAmounts = Pick<NextCharge, 'amountCents' | 'regularCents' | 'firstRegularCents'>;

/** The amounts of a charge to come, and of those after it, as a text that is only compared. */
export function toLaterAmounts(next: LaterAmounts | null): string {
  if (next === null) return 'none';
  const { amountCents, regularCents, firstRegularCents: first } = next;
  if (first !== undefined) return `${amountCents}/${regularCents}/${first}`;
  return regularCents === null || regularCents === amountCents ? `${amountCents}` : `${amountCents}/${regularCents}`;
}

/** A failed invoice. */
export interface UnpaidInvoice {
  invoiceId: StripeInvoiceId;
  amountCents: number;
  why: 'failed' | 'action-required';
  attempts: number;
  /** An earlier renewal was never paid and used the free grace period: this one has none. */
  withoutGrace?: true;
  /** Time of Stripe's next attempt; null: none. */
  nextAttemptAt: number | null;
  /** Stripe's page for its payment. */
  url: string | null;
}

/** A change of plan that waits for its payment (Stripe's pending update). */
export interface PendingChange {
  planId: PlanId;
  /** undefined: one. */
  seats?: number | undefined;
  invoiceId: StripeInvoiceId;
  amountCents: number;
  expiresAt: number;
  /** The user's bank has a debit for days. Of a first purchase, the plan is not given before; a renewal keeps it. */
  debit?: 'purchase' | 'renewal';
  /** The bank has refused it: the purchase ends. */
  failed?: true;
}

export type SubscriptionStatus = Row<'memberships'>['status'];

type InternalColumn = 'contactAt' | 'createdAt' | 'updatedAt';

interface JsonColumns {
  card: SavedCard | null;
  discount: AppliedDiscount | null;
  customerDiscount: CustomerDiscount | null;
  unpaid: UnpaidInvoice | null;
  pending: PendingChange | null;
  /** null: no subscription, or not read yet. */
  price: SubscriptionPrice | null;
  /** null: none. */
  nextCharge: NextCharge | null;
  /** The user's data that the customer at Stripe lacks; null: none. */
  contact: ContactDue | null;
  /** The user's pause, from when it is scheduled; null: none. */
  pause: MemberPause | null;
}

export interface Membership
  extends Omit<Row<'memberships'>, keyof JsonColumns | InternalColumn | 'cancelAtPeriodEnd'>,
    JsonColumns {
  cancelAtPeriodEnd: boolean;
  /** A request that Stripe has not confirmed: only for pages. */
  noted?: NotedAct;
  /** Given back when the plan ends before its paid period does: only for pages and mails. */
  refundAtEnd?: RefundAtEnd;
}

/** The end of the paid period, and the next charge if the plan goes on; also of a plan that ends before it. */
export const toFullPeriodEnd = ({
  cancelAtPeriodEnd,
  periodEnd,
  paidUntil,
}: Pick<Membership, 'cancelAtPeriodEnd' | 'periodEnd' | 'paidUntil'>): number | null =>
  cancelAtPeriodEnd && periodEnd !== null && paidUntil !== null ? Math.max(periodEnd, paidUntil) : periodEnd;

/** `due`: name, address and language are still to be written to the customer; `refused`: Stripe refuses the address. */
export type ContactDue = { state: 'due' } | { state: 'refused'; code: string; digest: string };

/** The value of `pricedPlanId` for the initial plan. */
export const trialPlanKey = toPlanId('trial');

/**
 * The last days before a change that an earlier release has scheduled: the next price waits on the subscription, and
 * Stripe counts that as a trial of it.
 */
export const isInLastDays = (membership: Pick<Membership, 'status' | 'pricedPlanId' | 'triedPlanId'>): boolean =>
  membership.status === 'trialing' && membership.pricedPlanId !== trialPlanKey && !isTrying(membership);

/** A subscription to a paid plan that is paused: it gives nothing and is not charged until it is resumed. */
export const isPaused = ({ status, pricedPlanId }: Pick<Membership, 'status' | 'pricedPlanId'>): boolean =>
  status === 'paused' && pricedPlanId !== trialPlanKey;

/** A user's request that Stripe has not confirmed yet; `change`: another plan, or fewer seats, from the period's end on. */
type NotedAct = 'cancel' | 'resume' | 'change' | 'pause';

type NotedDecision = 'cancel' | 'resume';

/** The membership after Stripe confirms the request. */
function asNoted(membership: Membership, noted: NotedDecision): Membership {
  const { status, paidPlanId, pricedPlanId } = membership;
  const endsLater = status === 'active' || isInLastDays(membership) || isTrying(membership);
  // Otherwise the request takes effect at once; until then nothing changes.
  if (!endsLater) return { ...membership, noted };
  const decided = { ...membership, noted, pause: null, nextPlanId: null };
  return noted === 'cancel'
    ? { ...decided, cancelAtPeriodEnd: true }
    : { ...decided, cancelAtPeriodEnd: false, pricedPlanId: paidPlanId ?? pricedPlanId };
}

/** Stored actions after which the subscription continues. */
export const continuingTasks: ReadonlySet<BillingTaskKind> = new Set(['keep', 'change-later']);

/** Others say nothing of the subscription's end. */
const decisions: ReadonlySet<BillingTaskKind> = new Set(['cancel-later', 'cancel-now', 'resume', 'delete-customer']);

/** The user's last request that Stripe has not confirmed. */
export function notedIn(tasks: readonly BillingTask[]): NotedDecision | undefined {
  const kind = tasks.findLast((task) => decisions.has(task.kind))?.kind;
  if (kind === 'cancel-later' || kind === 'cancel-now') return 'cancel';
  return kind === 'resume' ? 'resume' : undefined;
}

/** The membership without the cancellation, and with the change that was scheduled before it. */
function asKept(membership: Membership, planId: PlanId | null): Membership {
  const { cancelAtPeriodEnd, nextPlanId } = membership;
  if (nextPlanId === planId && (!cancelAtPeriodEnd || planId !== null)) return membership;
  return { ...asNoted(membership, 'resume'), cancelAtPeriodEnd: planId !== null, nextPlanId: planId };
}

/** The membership after Stripe confirms every waiting action: the stored row has only confirmed state. */
export function asDecided(membership: Membership, tasks: readonly BillingTask[]): Membership {
  const noted = notedIn(tasks);
  if (noted) return asNoted(membership, noted);
  const later = tasks.find(({ kind }) => kind === 'change-later');
  // The stored charge is that of the plan before.
  if (later)
    return { ...membership, cancelAtPeriodEnd: false, nextPlanId: later.planId, nextSeats: null, nextCharge: null };
  const keep = tasks.find(({ kind }) => kind === 'keep');
  return keep ? asKept(membership, keep.planId) : membership;
}

/** A discount in Stripe's parameters. */
export interface DiscountParam {
  promotion_code?: string;
  coupon?: string;
  /** One that is there already. */
  discount?: string;
}

/** A promotion for Stripe: its code, else the coupon itself. */
export const toDiscountParam = ({ promotionCodeId, couponId }: AppliedDiscount): DiscountParam =>
  promotionCodeId !== null ? { promotion_code: promotionCodeId } : { coupon: couponId };

/** The discounts that Stripe has: that of the subscription comes before that of the customer. */
export type Discounts = Pick<Membership, 'discount' | 'customerDiscount'>;

/** The discounts of a preview, if it is not of those that Stripe has. */
export function previewDiscounts(
  { discount, customerDiscount }: Discounts,
  applied: AppliedDiscount | CustomerDiscount | null,
): { discounts?: '' | DiscountParam[] } {
  if (applied === (discount ?? customerDiscount)) return {};
  if (applied === null) return { discounts: '' };
  return { discounts: ['discountId' in applied ? { discount: applied.discountId } : toDiscountParam(applied)] };
}

/** Tests whether a discount still applies to a charge at this time, after it was used by an earlier one. */
const lastsUntil = ({ duration, endsAt }: AppliedDiscount, at: number | null): boolean =>
  duration === 'forever' || (duration === 'repeating' && endsAt !== null && at !== null && endsAt > at);

/** The same of one that no earlier charge uses. */
export const appliesAt = (discount: AppliedDiscount, at: number | null): boolean =>
  discount.duration === 'once' || lastsUntil(discount, at);

/** A charge at a time. `amountCents`: a fixed discount of the subscription that exceeds it does not apply. */
interface LaterAmount {
  at: number | null;
  amountCents?: number;
}

/** The discount of a later charge, if none is before it. */
export function discountAt(
  { discount, customerDiscount }: Discounts,
  { at, amountCents = Infinity }: LaterAmount,
): AppliedDiscount | CustomerDiscount | null {
  if (discount && appliesAt(discount, at) && exceedsAmount(amountCents, discount) === undefined) return discount;
  return customerDiscount && appliesAt(customerDiscount, at) ? customerDiscount : null;
}

/** The discount of the charge after one that has used a discount. */
export function discountAfter(
  used: AppliedDiscount | null,
  customerDiscount: CustomerDiscount | null,
  { at, amountCents = Infinity }: LaterAmount,
): AppliedDiscount | CustomerDiscount | null {
  if (used === customerDiscount) return used && lastsUntil(used, at) ? used : null;
  if (used && lastsUntil(used, at) && exceedsAmount(amountCents, used) === undefined) return used;
  return customerDiscount && appliesAt(customerDiscount, at) ? customerDiscount : null;
}

type Amounts = Pick<AppliedDiscount, 'amountOffCents'>;

/** The end of a repeating discount that begins now: Stripe counts calendar months in UTC. null: it has none. */
export const discountEnd = (
  { duration, months }: Pick<AppliedDiscount, 'duration' | 'months'>,
  nowMs: number,
): number | null => (duration !== 'repeating' || months == null ? null : addMonths(nowMs, months));

/** Tests for a fixed discount that exceeds the amount, which is refused; undefined: it does not. */
export function exceedsAmount(amountCents: number, { amountOffCents }: Amounts): number | undefined {
  return amountOffCents !== null && amountOffCents > amountCents ? amountOffCents : undefined;
}
