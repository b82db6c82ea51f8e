import type Stripe from 'stripe';

/** Stripe's objects as the engine keeps them: ids where the types allow ids or objects, decimals as the wire's strings. */
type With<T, Over> = Omit<T, keyof Over> & Over;
export interface List<T> {
  object: 'list';
  data: T[];
  has_more: boolean;
  url: string;
}

export type Metadata = Record<string, string>;
export type Customer = With<
  Stripe.Customer,
  {
    default_source: null;
    discount: Discount | null;
    invoice_settings: With<Stripe.Customer.InvoiceSettings, { default_payment_method: string | null }>;
  }
>;
export type TaxId = With<
  Stripe.TaxId,
  { customer: string; owner: { customer: string; customer_account: null; type: 'customer' } }
>;
export interface Deleted<K extends string> {
  id: string;
  object: K;
  deleted: true;
}
export type Product = With<Stripe.Product, { default_price: string | null }>;
export type Price = With<Stripe.Price, { product: string; unit_amount: number; unit_amount_decimal: string }>;
export type Plan = With<Stripe.Plan, { amount_decimal: string; product: string }>;
export type Coupon = Stripe.Coupon;
export type TaxRate = Stripe.TaxRate;
export type PromotionCode = With<
  Stripe.PromotionCode,
  { customer: string | null; promotion: { coupon: string; type: 'coupon' } }
>;
export type Discount = With<
  Stripe.Discount,
  { customer: string | null; promotion_code: string | null; source: { coupon: string; type: 'coupon' } }
>;
export type PaymentMethod = With<Stripe.PaymentMethod, { customer: string | null }>;
export type SetupAttempt = With<Stripe.SetupAttempt, { customer: string | null; payment_method: string }>;
export type Token = Stripe.Token;
type Intent<T> = With<T, { customer: string | null; payment_method: string | null }>;
export type SetupIntent = With<Intent<Stripe.SetupIntent>, { latest_attempt: string | null }>;
export type PaymentIntent = With<Intent<Stripe.PaymentIntent>, { latest_charge: string | null }>;
export type SubscriptionItem = With<Stripe.SubscriptionItem, { price: Price; plan: Plan; quantity: number }>;
export type PendingUpdate = With<Stripe.Subscription.PendingUpdate, { subscription_items: SubscriptionItem[] | null }>;
export type Subscription = With<
  Stripe.Subscription,
  {
    customer: string;
    default_payment_method: string | null;
    discounts: string[];
    items: List<SubscriptionItem>;
    latest_invoice: string | null;
    pending_update: PendingUpdate | null;
    schedule: string | null;
  }
>;
export type SchedulePhase = With<
  Stripe.SubscriptionSchedule.Phase,
  {
    default_payment_method: string | null;
    discounts: { coupon: null; discount: string; promotion_code: null }[];
    items: With<Stripe.SubscriptionSchedule.Phase.Item, { plan: string; price: string; quantity: number }>[];
    metadata: Metadata;
  }
>;
export type SubscriptionSchedule = With<
  Stripe.SubscriptionSchedule,
  {
    customer: string;
    default_settings: With<Stripe.SubscriptionSchedule.DefaultSettings, { default_payment_method: string | null }>;
    metadata: Metadata;
    phases: SchedulePhase[];
    subscription: string | null;
  }
>;
export type InvoiceLine = With<
  Stripe.InvoiceLineItem,
  {
    discounts: string[];
    subscription: string | null;
    discount_amounts: { amount: number; discount: string }[];
    quantity_decimal: string | null;
    pricing: {
      price_details: { price: string; product: string };
      type: 'price_details';
      unit_amount_decimal: string;
    };
  }
>;
export type Invoice = With<
  Stripe.Invoice,
  {
    customer: string;
    default_payment_method: string | null;
    discounts: string[];
    lines: List<InvoiceLine>;
    payments: List<InvoicePayment>;
    total_discount_amounts: { amount: number; discount: string }[];
    parent: {
      quote_details: null;
      subscription_details: { metadata: Metadata | null; subscription: string };
      type: 'subscription_details';
    };
  }
>;
export type InvoicePayment = With<
  Stripe.InvoicePayment,
  { invoice: string; payment: { payment_intent: string; type: 'payment_intent' } }
>;
export type Charge = With<
  Stripe.Charge,
  {
    customer: string | null;
    payment_intent: string;
    payment_method: string;
    status: 'succeeded' | 'failed';
  }
>;
export type Dispute = With<Stripe.Dispute, { charge: string; payment_intent: string }>;
export type Refund = With<
  Stripe.Refund,
  { charge: string | null; customer: string | null; payment_intent: string; payment_method: string | null }
>;
export type CreditNote = With<
  Stripe.CreditNote,
  { customer: string; invoice: string; lines: List<Stripe.CreditNoteLineItem> }
>;
