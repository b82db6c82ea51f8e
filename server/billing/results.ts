import type { PlanId, UserId } from '../shared/index.ts';
import type { User } from '../users/index.ts';
import type { BillingPeriod, Plan } from './catalogue/catalogue.ts';
import type { BillingDetails, StoredDetails } from './details/details-store.ts';
import type { GiftService } from './gifts/gift-rules.ts';
import type { EndOnNotice, Order } from './orders/order.ts';
import type { PaymentProgress } from './payment-progress.ts';
import type { AmountLine } from './stripe/stripe-invoices.ts';
import type { Decline } from './stripe/stripe-objects.ts';
import type { AnnouncedDeletion, AnnouncedEnd, ProratedEnd, ProratedEndResult } from './subscription/early-end.ts';
import type { AppliedDiscount, Membership, NextCharge, SavedCard } from './subscription/membership.ts';
import type { PauseService, ResumeResult } from './subscription/pause-rules.ts';
import type { PlanTrialService } from './subscription/plan-trial-rules.ts';
import type { AnnouncedWithdrawal, Withdrawal, WithdrawalResult } from './subscription/withdrawal-rules.ts';

/** A promotion code that a user has applied to a purchase. */
export interface ChosenPromotion extends AppliedDiscount {
  /** As it was typed, trimmed. */
  typed: string;
}

/** A user's open purchase. */
export interface PurchaseView {
  id: string;
  userId: UserId;
  plan: Plan;
  promotion: ChosenPromotion | null;
  state: 'open' | 'charging' | 'paid' | 'abandoned';
  attempt: number;
}

/** The price of a plan for a user, from Stripe's own preview. Cents. */
export interface Quote {
  plan: Plan;
  /** now: charged and changed at once; later: changes at the end of the paid period. */
  when: 'now' | 'later';
  /** The purchase gives a right to withdraw, as an upgrade within a paid period does not. */
  isNewContract?: boolean;
  /** The plan's own amount. */
  amountCents: number;
  /** The promotion code's discount today. */
  discountCents: number;
  /** The credit for unused time (prorated). */
  unusedCents: number;
  /** The used part of the user's credit balance. */
  usedCreditCents: number;
  /** The charge of the card today. */
  dueCents: number;
  /** Of the charge today, and they add up to it. */
  lines: readonly AmountLine[];
  /** The taxes that are in the lines already. */
  includedTaxes: readonly AmountLine[];
  /** The charge after today's; for a later plan its first one. null: none. */
  next: NextCharge | null;
  /** The monthly plan as which a yearly one goes on, and that `next` pays. */
  following?: Plan | undefined;
  /** Time of the next charge, from Stripe; null: Stripe has not said. */
  renewsAt: number | null;
  /** Start of the previewed plan. */
  startsAt: number;
  promotion: ChosenPromotion | null;
  /** The free days with which it begins: `next` is charged at their end. `refused`: the card has had some, or is none. */
  trial?: { endsAt: number } | { refused: 'card' | 'method' } | undefined;
  /** The code of `discountCents`: the promotion's, or that of an earlier purchase whose discount continues. */
  discountCode?: string | undefined;
}

/** The reason that a promotion code was not applied (the specification's sections 5 and 8). */
export type PromotionRefusal =
  /** 'Enter valid promo code' */
  | { kind: 'unknown' }
  /** 'Cannot apply more than one coupon code' */
  | { kind: 'second' }
  /** 'Minimum order amount should be greater than $X' */
  | { kind: 'minimum'; amountCents: number }
  | { kind: 'nothing-due' }
  | { kind: 'expired' }
  | { kind: 'used-up' }
  | { kind: 'first-purchase-only' }
  | { kind: 'not-for-this-plan' }
  | { kind: 'too-many'; retryAfterMs: number };

export type PromotionResult =
  | { kind: 'applied'; purchase: PurchaseView }
  | { kind: 'refused'; refusal: PromotionRefusal };

/** The values of the page whose button the user pressed. */
export interface DisplayedQuote {
  planId: PlanId;
  /** undefined: not named; other seats than these are not sold. */
  seats?: number | undefined;
  dueCents: number;
  /** The later amounts, as `toLaterAmounts` writes them; undefined: none are named, and none are compared. */
  laterCents?: string | undefined;
  /** The end of the free days that the page has named; null: none. undefined: none are wanted. */
  trialEnd?: number | null | undefined;
  /** The wording with which the user has asked that the plan begins at once; undefined: they have not. */
  beginsAtOnce?: string | undefined;
}

export type PurchaseResult =
  /** Charged (or nothing was due): the user has the plan. */
  | { kind: 'paid'; plan: Plan; order: Order | undefined }
  /** It changes at the period's end. `isNoted`: it is passed on as soon as Stripe answers. */
  | { kind: 'scheduled'; plan: Plan; at: number; isNoted?: boolean }
  /** The card's bank requires authentication by the user: for Stripe.js. */
  | { kind: 'action'; clientSecret: string; plan: Plan; amountCents: number; laterCents?: string | undefined }
  | ({ kind: 'declined'; plan: Plan } & Decline)
  /** The user's bank has a debit for days: the plan comes with its payment. */
  | { kind: 'processing'; plan: Plan; amountCents: number }
  /** A bank has an earlier debit: nothing is sold until it is paid. */
  | { kind: 'debit-waiting' }
  /** Nothing is charged without a billing address. */
  | { kind: 'no-billing-details' }
  /** There is no card to charge. */
  | { kind: 'no-card' }
  /** The user has not asked that the plan begins at once, and it would have to wait for the end of the withdrawal period. */
  | { kind: 'no-request-to-begin' }
  /** The amount differs from that of the page: nothing was charged. */
  | { kind: 'changed'; quote: Quote }
  /** An earlier invoice must be settled first. */
  | { kind: 'unpaid-first' }
  /** The subscription is paused at Stripe: nothing is sold to it until it is resumed there. */
  | { kind: 'paused' }
  /** An upgrade credits unused time, and the time of this renewal is not paid yet. */
  | { kind: 'renewing'; renewal: PendingRenewal }
  /** The user already has this plan, or there is nothing to confirm. */
  | { kind: 'no-change'; plan: Plan | undefined }
  | { kind: 'too-many'; retryAfterMs: number };

/** A renewal that Stripe has begun and not charged yet; times in milliseconds since the epoch. */
export interface PendingRenewal {
  amountCents: number;
  currency: string;
  /** The end of the period that it pays. */
  periodEnd: number;
  /** From then on the plan can be changed; null: unknown, because the operator has put the charge on hold. */
  changeableAt: number | null;
}

export type SetupIntentResult =
  | { kind: 'begun'; clientSecret: string; setupIntentId: string }
  | { kind: 'too-many'; retryAfterMs: number };

/** The result of a payment with a card that was just entered. */
export type CardPaymentResult =
  | PurchaseResult
  /** The card was not saved, and nothing was charged. */
  | { kind: 'card-refused'; saved: Exclude<SaveCardResult, { kind: 'saved' }> };

export type SaveCardResult =
  | { kind: 'saved'; card: SavedCard }
  /** The intent is not this user's, or has not succeeded. */
  | { kind: 'not-confirmed' }
  | ({ kind: 'declined' } & Decline);

/** The reason that billing details were not saved. `place`: Stripe does not know it; `vat-id`: it refuses the format. */
export type DetailsRefusal =
  | { kind: 'no-country' | 'no-postal-code' | 'place' | 'vat-id-country' }
  | { kind: 'vat-id'; country: string }
  | { kind: 'too-many'; retryAfterMs: number };

/** `noted`: they are stored, and brought to Stripe as soon as it answers. */
export type SaveDetailsResult = { kind: 'saved' } | { kind: 'noted' } | { kind: 'refused'; refusal: DetailsRefusal };

export interface BillingDetailsState {
  details: BillingDetails;
  /** null: there is no VAT id, or Stripe was not asked yet. */
  vatIdStatus: StoredDetails['vatIdStatus'];
  /** Nothing is charged without a country and a postal code. */
  isNeeded: boolean;
  /** They are needed, and are not there. */
  isMissing: boolean;
}

/** Stripe does not answer, or gives an invalid answer. The page names the action. */
export class StripeUnavailableError extends Error {
  override name = 'BillingUnavailable';
}

/** The reads of one user are limited, because Stripe's own limit applies to all users together. */
export class ReadLimitError extends StripeUnavailableError {
  readonly retryAfterMs: number;
  constructor(retryAfterMs: number) {
    super('this member reads too often');
    this.retryAfterMs = retryAfterMs;
  }
}

/** Stripe does not know the place of the user, and nothing is sold without its tax: their address must be entered. */
export class TaxLocationError extends StripeUnavailableError {}

/** The same while a card was saved, before a payment with it: nothing was charged. */
export class CardNotSavedError extends StripeUnavailableError {}

export interface InvoiceView {
  id: string;
  number: string | null;
  /** The plan that it sells; null: not in the catalogue. */
  planId: PlanId | null;
  /** The period of the price that it sells; null: unknown. */
  period: BillingPeriod | null;
  /** Drafts are never shown. */
  status: 'open' | 'paid' | 'void' | 'uncollectible';
  createdAt: number;
  totalCents: number;
  paidCents: number;
  refundedCents: number;
  /** The rate of its tax; undefined: several, none, or unknown. */
  taxPercent?: number | undefined;
  isReverseCharge?: boolean;
  url: string | null;
  pdfUrl: string | null;
}

/** The interface of this module for higher layers. */
export interface BillingService extends PauseService, GiftService, PlanTrialService, PaymentProgress {
  /** Without Stripe no plans are sold; free and partners' plans are still given. */
  readonly sold: boolean;
  /**
   * Ensures that the user has a customer and a subscription at Stripe, with the initial plan; can be called any number
   * of times.
   * @param trialDays of a trial, unless the user, address or card has had one
   * @throws {StripeUnavailableError}
   */
  ensure(user: User, trialDays: number): Promise<Membership>;
  /** As last read, with later requests (`noted`); undefined: the user has no membership. */
  getMembership(userId: UserId): Promise<Membership | undefined>;
  /** Reads everything again. @throws {StripeUnavailableError} */
  refresh(userId: UserId): Promise<Membership | undefined>;

  /** The open purchase. */
  purchase(userId: UserId): Promise<PurchaseView | undefined>;
  /** Chooses a plan; another plan than before removes the promotion code. */
  choose(user: User, plan: Plan): Promise<PurchaseView>;
  /** @throws {StripeUnavailableError} */
  applyPromotion(user: User, typed: string, from: { ip: string }): Promise<PromotionResult>;
  removePromotion(user: User): Promise<void>;
  /** @throws {StripeUnavailableError} */
  quote(user: User, plan: Plan, promotion: ChosenPromotion | null): Promise<Quote>;
  /** The same with the free days that the plan may begin with. @throws {StripeUnavailableError} */
  quoteOnPage: BillingService['quote'];
  /** The renewal that this plan would have to wait for, because it is an upgrade. @throws {StripeUnavailableError} */
  renewalBefore(user: User, plan: Plan): Promise<PendingRenewal | undefined>;
  /** The next charge if the scheduled end or change is taken back. @throws {StripeUnavailableError} */
  renewalIfKept(userId: UserId): Promise<NextCharge | undefined>;
  /** The renewal that is being charged. @throws {StripeUnavailableError} */
  pendingRenewal(userId: UserId): Promise<PendingRenewal | undefined>;
  /** Pays and changes, or continues a started payment. @throws {StripeUnavailableError} */
  confirm(user: User, announced: DisplayedQuote, from: { ip: string }): Promise<PurchaseResult>;
  /** Saves the card that the browser has confirmed, and pays with it. @throws {StripeUnavailableError} */
  payWithCard(
    user: User,
    entered: { setupIntentId: string; announced: DisplayedQuote },
    from: { ip: string },
  ): Promise<CardPaymentResult>;
  /** Reads the state of a payment that waited for the user; charges nothing. @throws {StripeUnavailableError} */
  outcome(user: User): Promise<PurchaseResult>;
  /**
   * A free plan, at once or after the paid plan; also while Stripe is unavailable.
   * @param announcedEndsAt the end of the paid plan on a month's notice that the page has named
   */
  takeFree(user: User, plan: Plan, announcedEndsAt?: number): Promise<PurchaseResult>;
  /** The plan of the user's deal with a partner, claimed or waiting. */
  findDeal(user: User): Promise<Plan | undefined>;
  /** Claims the partner's deal of the user. undefined: there is none. `announcedEndsAt`: as `takeFree`'s. */
  takeDeal(user: User, announcedEndsAt?: number): Promise<Plan | undefined>;

  findDetails(userId: UserId): Promise<BillingDetailsState>;
  saveDetails(user: User, details: BillingDetails): Promise<SaveDetailsResult>;
  /** @throws {StripeUnavailableError} */
  beginCard(user: User, from: { ip: string }): Promise<SetupIntentResult>;
  /** The method with which a user comes back from their bank's page; nothing is saved. @throws {StripeUnavailableError} */
  findReturned(user: User, setupIntentId: string): Promise<SaveCardResult>;
  /** Makes the card that the browser has confirmed the one that is charged. @throws {StripeUnavailableError} */
  keepCard(user: User, setupIntentId: string): Promise<SaveCardResult>;
  /** Charges an unpaid invoice to the card again. @throws {StripeUnavailableError} */
  payUnpaid(user: User, from: { ip: string }): Promise<PurchaseResult>;

  /**
   * At the period's end; at once if the last renewal is unpaid, or with `atOnce` while one is being charged: that is
   * not paid then. `noted`: done as soon as Stripe answers.
   */
  cancel(user: User, choice?: { atOnce: boolean }): Promise<'cancelled' | 'noted' | 'no-change'>;
  /** The end and the refund of an act now; undefined: the plan ends with its period. @throws {StripeUnavailableError} */
  quoteEnd(userId: UserId, act?: 'cancel' | 'deletion'): Promise<ProratedEnd | undefined>;
  /** The end at once of a deletion, with its refund; undefined: nothing is given back. */
  confirmDeletion(userId: UserId, announced: AnnouncedDeletion): Promise<EndOnNotice | 'changed' | undefined>;
  /** Ends the plan as announced, and gives the announced amount back. @throws {StripeUnavailableError} */
  endProrated(user: User, announced: AnnouncedEnd): Promise<ProratedEndResult>;
  /** The purchase from which the user can still withdraw. */
  findWithdrawal(userId: UserId): Promise<Withdrawal | undefined>;
  /** Ends the plan at once and gives the money back, less that of the announced days. `noted`: once Stripe answers. */
  withdraw(user: User, announced?: AnnouncedWithdrawal): Promise<WithdrawalResult>;
  /** Cancels the scheduled end, change or pause, or ends a pause, unless another amount is charged than announced. */
  resume(user: User, announced?: string): Promise<ResumeResult>;
  /** The newest first. @throws {StripeUnavailableError} */
  invoices(user: User): Promise<InvoiceView[]>;
}
