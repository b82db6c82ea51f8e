import type { UserId } from '../shared/index.ts';
import type { User } from '../users/index.ts';
import type { Plan } from './catalogue.ts';
import type { AppliedDiscount, Membership, SavedCard } from './membership.ts';
import type { Order } from './order-store.ts';

/** A promotion code that a member has applied to a purchase. */
export interface ChosenPromotion extends AppliedDiscount {
  /** As it was typed, trimmed. */
  typed: string;
  /** The promotion code whose conditions were judged here, and whose coupon is given in its place (promotions.ts). */
  judgedCodeId?: string;
}

/** A member on the way to a plan. */
export interface PurchaseView {
  id: string;
  userId: UserId;
  plan: Plan;
  promotion: ChosenPromotion | null;
  state: 'open' | 'charging' | 'paid' | 'given-up';
  attempt: number;
}

/** What a plan costs a member, from Stripe's own preview. Cents. */
export interface Quote {
  plan: Plan;
  /** now: charged and changed at once; later: changes at the end of the period that is paid. */
  when: 'now' | 'later';
  /** The plan's own amount. */
  amountCents: number;
  /** What the promotion code takes off today. */
  discountCents: number;
  /** What is given back of the plan before (prorated). */
  unusedCents: number;
  /** What is taken from the member's credit. */
  usedCreditCents: number;
  /** What the card is charged today. */
  dueCents: number;
  /** What each renewal costs, as far as is known today. */
  laterCents: number;
  /** When the next charge is. */
  renewsAt: number;
  /** Cards' preview of another plan: since when it holds. */
  startsAt: number;
  promotion: ChosenPromotion | null;
  /** What takes off `discountCents`: the promotion's code, or that of an earlier purchase whose discount goes on. */
  discountCode?: string | undefined;
}

/** Why a promotion code was not applied (the specification's sections 5 and 8). */
export type PromotionRefusal =
  /** 'Enter valid promo code' */
  | { kind: 'unknown' }
  /** 'Cannot apply more than one coupon code' */
  | { kind: 'second' }
  /** 'Minimum order amount should be greater than $X' */
  | { kind: 'minimum'; amountCents: number }
  /** There is nothing to pay. */
  | { kind: 'nothing-due' }
  | { kind: 'expired' }
  | { kind: 'used-up' }
  | { kind: 'first-purchase-only' }
  | { kind: 'not-for-this-plan' }
  | { kind: 'too-many'; retryAfterMs: number };

export type PromotionResult =
  | { kind: 'applied'; purchase: PurchaseView }
  | { kind: 'refused'; refusal: PromotionRefusal };

/** What the page said when the member pressed the button. */
export interface DisplayedQuote {
  planId: string;
  dueCents: number;
}

export type PurchaseResult =
  /** Charged (or nothing was due), the member has the plan. */
  | { kind: 'paid'; plan: Plan; order: Order | undefined }
  /** It changes at the period's end. */
  | { kind: 'scheduled'; plan: Plan; at: number }
  /** The card's bank wants to hear from the member: for Stripe.js. */
  | { kind: 'action'; clientSecret: string; plan: Plan; amountCents: number }
  /** The card provider's own message. */
  | { kind: 'declined'; message: string; plan: Plan }
  /** There is no card to charge. */
  | { kind: 'no-card' }
  /** What is due is not what the page said: nothing was charged. */
  | { kind: 'changed'; quote: Quote }
  /** An earlier invoice must be settled first. */
  | { kind: 'unpaid-first' }
  /** The subscription is paused at Stripe: nothing is sold to it until it is resumed there. */
  | { kind: 'paused' }
  /** The member has this plan already, or there is nothing to confirm. */
  | { kind: 'nothing'; plan: Plan | undefined }
  | { kind: 'too-many'; retryAfterMs: number };

export type SetupIntentResult =
  | { kind: 'begun'; clientSecret: string; setupIntentId: string }
  | { kind: 'too-many'; retryAfterMs: number };

export type SaveCardResult =
  | { kind: 'saved'; card: SavedCard }
  /** The intent is not this member's, or has not succeeded. */
  | { kind: 'not-confirmed' }
  | { kind: 'declined'; message: string };

/** Where Stripe does not answer, or answers what it should not. The page says which act it was. */
export class StripeUnavailableError extends Error {
  override name = 'BillingUnavailable';
}

export interface InvoiceView {
  id: string;
  number: string | null;
  /** The plan that it sells; null: none of the catalogue. */
  planId: string | null;
  /** Draft is never shown. */
  status: 'open' | 'paid' | 'void' | 'uncollectible';
  createdAt: number;
  totalCents: number;
  paidCents: number;
  refundedCents: number;
  url: string | null;
  pdfUrl: string | null;
}

/** Everything that rooms above this one ask of it. */
export interface BillingService {
  /** Without Stripe no plans are sold; free and partners' plans are still given. */
  readonly sold: boolean;
  /**
   * The member has a customer and a subscription with Stripe, on the plan on which members begin; may be called any number of times.
   * @param trialDays of a trial, unless the member, address or card has had one
   * @throws {StripeUnavailableError}
   */
  ensure(user: User, trialDays: number): Promise<Membership>;
  /** The address was confirmed: so long will the trial be, whatever is asked for later. */
  settleTrial(user: User, trialDays: number): Promise<void>;
  /** As last read, with what was noted since (`noted`); undefined: nothing is known of the member. */
  getMembership(userId: UserId): Promise<Membership | undefined>;
  /** Reads everything anew. @throws {StripeUnavailableError} */
  refresh(userId: UserId): Promise<Membership | undefined>;

  /** The purchase under way. */
  purchase(userId: UserId): Promise<PurchaseView | undefined>;
  /** Chooses a plan; another plan than before forgets the promotion code. */
  choose(user: User, plan: Plan): Promise<PurchaseView>;
  /** @throws {StripeUnavailableError} */
  applyPromotion(user: User, typed: string, from: { ip: string }): Promise<PromotionResult>;
  removePromotion(user: User): Promise<void>;
  /** @throws {StripeUnavailableError} */
  quote(user: User, plan: Plan, promotion: ChosenPromotion | null): Promise<Quote>;
  /** Pays and changes, or continues what was begun. @throws {StripeUnavailableError} */
  confirm(user: User, announced: DisplayedQuote, from: { ip: string }): Promise<PurchaseResult>;
  /** Looks at what has become of a payment that waited for the member; charges nothing. @throws {StripeUnavailableError} */
  outcome(user: User): Promise<PurchaseResult>;
  /** A free plan, at once or (while something is paid) at the period's end; also while Stripe is away. */
  takeFree(user: User, plan: Plan): Promise<PurchaseResult>;
  /** The plan of the deal that the member has with a partner, taken or waiting. */
  findDeal(user: User): Promise<Plan | undefined>;
  /** The plan of the partner's deal that waits for the member. undefined: there is none. */
  takeDeal(user: User): Promise<Plan | undefined>;

  /** @throws {StripeUnavailableError} */
  beginCard(user: User, from: { ip: string }): Promise<SetupIntentResult>;
  /** The card that the browser has confirmed becomes the one that is charged. @throws {StripeUnavailableError} */
  keepCard(user: User, setupIntentId: string): Promise<SaveCardResult>;
  /** Charges an unpaid invoice to the card again. @throws {StripeUnavailableError} */
  payUnpaid(user: User, from: { ip: string }): Promise<PurchaseResult>;

  /** At the period's end; at once where the last renewal is not paid. `noted`: done as soon as Stripe answers. */
  cancel(user: User): Promise<'cancelled' | 'noted' | 'nothing'>;
  /** Takes back what was to happen at the period's end. `noted`: done as soon as Stripe answers. */
  resume(user: User): Promise<'resumed' | 'noted' | 'nothing'>;
  /** The newest first. @throws {StripeUnavailableError} */
  invoices(user: User): Promise<InvoiceView[]>;
}
