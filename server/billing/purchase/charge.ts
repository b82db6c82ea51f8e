import type { PlanId, StripeSubscriptionId } from '../../shared/index.ts';
import type { AnnouncedPrice } from '../jobs/task-store.ts';
import type { DiscountParam } from '../subscription/membership.ts';

/** That the plan begins before a withdrawal is over, at the user's request. */
interface RequestToBegin {
  at: number;
  /** The version of its text, and the language. */
  wording: string;
}

/** The exact parameters of one attempt at Stripe, so that it can be repeated. */
export interface Charge {
  subscriptionId: StripeSubscriptionId;
  itemId: string;
  priceId: string;
  /** undefined: it stays as it is. */
  quantity?: number | undefined;
  /** Seconds since the epoch, as Stripe counts; null: no proration. */
  prorationDate: number | null;
  endTrial: boolean;
  /** The discounts after the purchase; null: unchanged. */
  discounts: DiscountParam[] | null;
  /** The plan that was scheduled before an upgrade; scheduled anew if that is given up. */
  scheduledPlanId?: PlanId | undefined;
  /** Its price, and that of the plan after it, which stay. */
  scheduledPrices?: readonly AnnouncedPrice[] | undefined;
  /** Its price alone, of an earlier release. */
  scheduledPriceId?: string | undefined;
  announcedCents: number;
  /** The later amounts that were announced; undefined: none were named. */
  laterCents?: string | undefined;
  /** The price of the monthly plan that follows a yearly one, as announced. */
  followingPriceId?: string | undefined;
  /** The subscription had no tax before: it has none again if nothing is charged. */
  switchesTaxOn?: true | undefined;
  /** A bank pays it after days: the price changes before, and the plan is given with the payment. */
  byDebit?: true;
  /** Of the trial that goes on until a debit is paid. Seconds since the epoch, as Stripe counts. */
  trialEnd?: number | undefined;
  /** The end of the free days with which the plan begins, as announced: nothing is charged before. Seconds. */
  planTrialEnd?: number | undefined;
  /** Of a user who owes the days until a withdrawal. */
  requestToBegin?: RequestToBegin | undefined;
  beganAt: number;
}

/** The start of the rest of a period, as it was announced: unused time and rest are counted from it. */
export interface QuotedDate {
  /** Seconds since the epoch, as Stripe counts. */
  prorationDate: number;
  /** Time of the announcement. */
  at: number;
  subscriptionId: string;
  periodStart: number;
  couponId: string | null;
}
