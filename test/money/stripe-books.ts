/** The money of the stand-in for Stripe, read from its own objects. Times are seconds, amounts are cents. */

export interface Line {
  id: string;
  amount: number;
  quantity: number | null;
  period: { start: number; end: number };
  discount_amounts?: { amount: number; discount: string }[] | null;
  pricing: { price_details: { price: string; product: string }; unit_amount_decimal: string } | null;
  /** A proration is an item of its own in the flexible billing mode. */
  parent: { subscription_item_details: Proration | null; invoice_item_details?: Proration | null } | null;
}

interface Proration {
  proration: boolean;
  proration_details?: { credited_items: unknown } | null;
}

export interface Invoice {
  id: string;
  customer: string;
  status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible';
  billing_reason: string | null;
  currency: string;
  number: string | null;
  created: number;
  total: number;
  amount_due: number;
  amount_paid: number;
  starting_balance: number;
  ending_balance: number | null;
  total_discount_amounts: { amount: number; discount: string }[] | null;
  total_taxes: { amount: number; tax_behavior: string }[] | null;
  status_transitions: { paid_at: number | null };
  lines: { data: Line[] };
  payments: { data: { status: string; payment: { payment_intent: string } }[] };
  parent: { subscription_details: { subscription: string } | null } | null;
}

export interface Price {
  id: string;
  unit_amount: number;
  currency: string;
  product: string;
  recurring: { interval: 'day' | 'month' | 'year'; interval_count: number } | null;
  metadata: Record<string, string>;
}

export interface Subscription {
  id: string;
  customer: string;
  status: string;
  created: number;
  ended_at: number | null;
  cancel_at: number | null;
  cancel_at_period_end: boolean;
  trial_start: number | null;
  trial_end: number | null;
  discounts: string[];
  schedule: string | null;
  pending_update: unknown;
  latest_invoice: string | null;
  default_payment_method?: string | null;
  items: { data: { current_period_start: number; current_period_end: number; price: Price; quantity?: number }[] };
}

export interface Schedule {
  id: string;
  customer: string;
  pause_schedules: { resume: { resume_at: number; status: { type: string } } | null }[];
}

export interface Charge {
  id: string;
  amount: number;
  amount_refunded: number;
  currency: string;
  customer: string | null;
  created: number;
  disputed: boolean;
  payment_intent: string;
  status: 'succeeded' | 'failed';
}

export interface Dispute {
  id: string;
  charge: string;
  status: string;
}

export interface Refund {
  id: string;
  amount: number;
  created: number;
  charge: string;
  payment_intent: string;
  status: string;
}

export interface Discount {
  id: string;
  source: { coupon: string };
  promotion_code: string | null;
}

export interface Coupon {
  id: string;
  times_redeemed: number;
  duration: string;
}

export interface PromotionCode {
  id: string;
  code: string;
  times_redeemed: number;
  promotion: { coupon: string };
}

export interface Customer {
  id: string;
  email: string | null;
  balance: number;
  created: number;
  invoice_settings?: { default_payment_method?: string | null };
}

export interface PaymentMethod {
  id: string;
  customer: string | null;
  card?: { fingerprint: string };
}

export interface StoredThing {
  id: string;
  object: string;
  deleted?: boolean;
  metadata?: Record<string, string>;
}

const kinds = {
  customers: 'customer',
  subscriptions: 'subscription',
  invoices: 'invoice',
  charges: 'charge',
  refunds: 'refund',
  disputes: 'dispute',
  schedules: 'subscription_schedule',
  prices: 'price',
  discounts: 'discount',
  coupons: 'coupon',
  promotionCodes: 'promotion_code',
  paymentMethods: 'payment_method',
} as const;

interface Kinds {
  customers: Customer;
  subscriptions: Subscription;
  invoices: Invoice;
  charges: Charge;
  refunds: Refund;
  disputes: Dispute;
  schedules: Schedule;
  prices: Price;
  discounts: Discount;
  coupons: Coupon;
  promotionCodes: PromotionCode;
  paymentMethods: PaymentMethod;
}

/** Everything, the oldest first. */
export type Books = { [Kind in keyof Kinds]: Kinds[Kind][] };

export const readBooks = (objects: readonly StoredThing[]): Books => {
  const of = (kind: keyof Kinds) => objects.filter(({ object, deleted }) => object === kinds[kind] && !deleted);
  return Object.fromEntries(Object.keys(kinds).map((kind) => [kind, of(kind as keyof Kinds)])) as unknown as Books;
};

/** What concerns one customer. */
export interface Account {
  customers: Customer[];
  subscriptions: Subscription[];
  invoices: Invoice[];
  charges: Charge[];
}

export function accountOf(books: Books, email: string): Account {
  const customers = books.customers.filter((one) => one.email === email);
  const ids = new Set(customers.map(({ id }) => id));
  const own = <T extends { customer: string | null }>(all: T[]) =>
    all.filter(({ customer }) => customer !== null && ids.has(customer));
  return {
    customers,
    subscriptions: own(books.subscriptions),
    invoices: own(books.invoices),
    charges: own(books.charges),
  };
}

const over = ['canceled', 'incomplete_expired'];
export const isLive = ({ status }: Subscription): boolean => !over.includes(status);

/** The plan of a price, by the mark that the catalogue's synchronisation leaves; undefined for the trial's price. */
export const planOfPrice = (books: Books, priceId: string | undefined): string | undefined => {
  const plan = books.prices.find(({ id }) => id === priceId)?.metadata.foyer_plan;
  return plan === 'trial' ? undefined : plan;
};

/** A line that gives back unused time. */
export const isCredit = (line: Line): boolean =>
  line.amount < 0 || Boolean(findProration(line)?.proration_details?.credited_items);

const findProration = ({ parent }: Line): Proration | null | undefined =>
  parent?.subscription_item_details ?? parent?.invoice_item_details;

export interface Sale {
  invoice: Invoice;
  line: Line;
  planId: string;
}

/**
 * The line of an invoice that sells a paid plan, by product and period: a discount or a credit may leave nothing to pay.
 * The time of a trial is not sold.
 */
export function saleOf(books: Books, invoice: Invoice): Sale | undefined {
  for (const line of invoice.lines.data) {
    const planId = planOfPrice(books, line.pricing?.price_details.price);
    if (planId === undefined || isCredit(line) || isTrial(line)) continue;
    return { invoice, line, planId };
  }
  return undefined;
}

/**
 * A plan of the catalogue costs nothing only by a discount, which its line shows; the rest of a period shows none in the
 * billing mode that includes discounts in prorations.
 */
const isTrial = (line: Line): boolean =>
  line.amount === 0 &&
  !findProration(line)?.proration &&
  (line.discount_amounts ?? []).every(({ amount }) => amount === 0);

/** The free days of a paid plan that run now; undefined: there are none. */
export function findTrial(books: Books, { subscriptions }: Account): { planId: string; endsOn: string } | undefined {
  const trial = subscriptions.find(({ status }) => status === 'trialing');
  const planId = planOfPrice(books, trial?.items.data[0]?.price.id);
  return planId === undefined || trial?.trial_end == null ? undefined : { planId, endsOn: dayOf(trial.trial_end) };
}

/** The card that is charged next; undefined: there is none. */
export function findFingerprint(books: Books, { customers, subscriptions }: Account): string | undefined {
  const [customer] = customers;
  const id = subscriptions.find(isLive)?.default_payment_method ?? customer?.invoice_settings?.default_payment_method;
  return books.paymentMethods.find((one) => one.id === id)?.card?.fingerprint;
}

/** Paid sales, in the order of their payment. */
export const paidSales = (books: Books, { invoices }: Account): Sale[] =>
  invoices
    .filter(({ status }) => status === 'paid')
    .flatMap((invoice) => saleOf(books, invoice) ?? [])
    .toSorted((one, other) => paidAt(one.invoice) - paidAt(other.invoice));

export const paidAt = ({ status_transitions: { paid_at }, created }: Invoice): number => paid_at ?? created;

export const dayOf = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(0, 10);

export const isRenewal = ({ billing_reason }: Invoice): boolean => billing_reason === 'subscription_cycle';

/** When Stripe resumes a subscription that a member has paused, in seconds; undefined: it does not. */
export function resumesAt({ schedules }: Books, { status, schedule }: Subscription): number | undefined {
  const resume = schedules.find(({ id }) => id === schedule)?.pause_schedules[0]?.resume;
  return status === 'paused' && resume?.status.type === 'scheduled' ? resume.resume_at : undefined;
}

/** Whether an invoice is the whole period with which a paused subscription goes on. */
export function isResumption({ schedules }: Books, { customer, created, billing_reason: reason }: Invoice): boolean {
  // A schedule that has ended with its subscription names none any more.
  const own = schedules.filter((one) => one.customer === customer);
  const times = own.flatMap(({ pause_schedules: pauses }) => pauses.flatMap(({ resume }) => resume?.resume_at ?? []));
  return reason === 'subscription_update' && times.includes(created);
}

/** The coupons whose discounts took something off an invoice. */
export const couponsOn = ({ discounts }: Books, { total_discount_amounts: taken }: Invoice): string[] =>
  (taken ?? [])
    .filter(({ amount }) => amount > 0)
    .flatMap(({ discount }) => discounts.find(({ id }) => id === discount)?.source.coupon ?? []);
