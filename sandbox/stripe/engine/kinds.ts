import type * as Objects from './objects.ts';
import type { StripeEvent } from './types.ts';

/** Facts that Stripe does not expose. They are stored beside its objects, so that undo and storage are the same. */
interface HiddenCard {
  id: string;
  object: 'hidden.card';
  number: string;
  /** Whether the bank has authenticated the customer when the card was saved. */
  authenticated: boolean;
}
/** A payment by debit that the bank has not made yet. */
export interface HiddenSettlement {
  id: string;
  object: 'hidden.settlement';
  intent: string;
  /** Seconds: the end of the wait. */
  at: number;
}
/** The last billed part of a subscription's item: the basis of credits for unused time. */
export interface HiddenDebit {
  id: string;
  object: 'hidden.debit';
  /** Net of discounts. */
  cents: number;
  /** The part that each discount took off. */
  cuts?: { discount: string; amount: number }[];
  start: number;
  end: number;
  invoice: string | null;
  line: string;
}
/** Prorations that wait for the subscription's next invoice. */
interface HiddenItem {
  id: string;
  object: 'hidden.item';
  subscription: string;
  line: Objects.InvoiceLine;
  invoiced: boolean;
}
/** A change that waits until its invoice is paid. */
export interface HiddenChange {
  id: string;
  object: 'hidden.change';
  subscription: string;
  invoice: string;
  /** The subscription after the change. */
  target: Partial<Objects.Subscription>;
  debits: HiddenDebit[];
  /** Pending prorations that the invoice bills: they are pending again when it is voided. */
  swept: string[];
  /** Discounts that take something off this invoice. */
  used: string[];
  /** A resumption that the first attempt to pay completes, paid or not. */
  onAttempt: boolean;
  kind: 'update' | 'resume';
  expiresAt: number;
}
/** The rule of a coupon at its redemption: deleting the coupon does not change it. */
interface HiddenRule {
  id: string;
  object: 'hidden.rule';
  percentOff: number | null;
  amountOff: number | null;
  once: boolean;
  /** The products that it applies to; null for all. */
  products: string[] | null;
}
/**
 * Where a customer's discount does not apply, because a call has said so: the phases of a schedule, or, in a preview, the
 * customer's subscriptions.
 */
interface HiddenBare {
  /** `hidden_bare_` and the id of the schedule, or of the customer. */
  id: string;
  object: 'hidden.bare';
  /** Starts of phases, in seconds. */
  phases: number[];
}
/** The record of a notification: the end of that trial, three days before. */
interface HiddenNotice {
  id: string;
  object: 'hidden.told';
}

export interface Kinds {
  customer: Objects.Customer;
  tax_id: Objects.TaxId;
  product: Objects.Product;
  price: Objects.Price;
  coupon: Objects.Coupon;
  promotion_code: Objects.PromotionCode;
  discount: Objects.Discount;
  payment_method: Objects.PaymentMethod;
  token: Objects.Token;
  setup_attempt: Objects.SetupAttempt;
  setup_intent: Objects.SetupIntent;
  payment_intent: Objects.PaymentIntent;
  subscription: Objects.Subscription;
  subscription_schedule: Objects.SubscriptionSchedule;
  invoice: Objects.Invoice;
  invoice_payment: Objects.InvoicePayment;
  charge: Objects.Charge;
  dispute: Objects.Dispute;
  refund: Objects.Refund;
  credit_note: Objects.CreditNote;
  tax_rate: Objects.TaxRate;
  event: StripeEvent;
  'hidden.card': HiddenCard;
  'hidden.settlement': HiddenSettlement;
  'hidden.debit': HiddenDebit;
  'hidden.item': HiddenItem;
  'hidden.change': HiddenChange;
  'hidden.rule': HiddenRule;
  'hidden.bare': HiddenBare;
  'hidden.told': HiddenNotice;
}
export type Kind = keyof Kinds;
export type StoredObject = Kinds[Kind] | Objects.Deleted<DeletableKind>;
export type DeletableKind = 'customer' | 'tax_id' | 'product' | 'coupon';
