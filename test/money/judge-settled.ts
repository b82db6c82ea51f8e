import { findPlan, freePlanId, partnerPlans, soldPlans } from './catalogue.ts';
import type { Findings } from './findings.ts';
import type { Forecast } from './forecast.ts';
import { type Actual, difference, keeps, type Press } from './ledger.ts';
import type { MembershipPage } from './read-membership.ts';
import type { NextCharge } from './read-pages.ts';
import {
  type Account,
  type Books,
  couponsOn,
  dayOf,
  isLive,
  isRenewal,
  type Price,
  paidAt,
  paidSales,
  planOfPrice,
  resumesAt,
  type Sale,
  type Subscription,
  saleOf,
} from './stripe-books.ts';
import type { Member } from './world.ts';

/** An order, as the member's own data contain it. */
export interface Order {
  invoiceId: string;
  planId: string | null;
  currency: string;
  paidCents: number;
  discountCents: number;
  refundedCents: number;
  voucher: string | null;
}

/** What is known of a member without their pages. */
export interface Unseen {
  books: Books;
  account: Account;
  member: Member;
  findings: Findings;
  forecast: Forecast;
  /** An act has failed since the last quiet time. */
  hasFailed: boolean;
}

/** Everything that is known of a member after quiet time. */
export interface Settled extends Unseen {
  nowMs: number;
  page: MembershipPage;
  orders: Order[];
  /** The claim `plan`. */
  plan: string | undefined;
  /** The claim `seats`. */
  seats: number | undefined;
}

const dayMs = 24 * 60 * 60_000;
const graceDays = 7;

/** O1 */
export function judgeOrders({ books, account, member, findings, orders }: Settled): void {
  const paid = account.invoices.filter(({ status }) => status === 'paid');
  const report = (detail: string) => findings.report('O1', member, detail);
  for (const charge of account.charges.filter(({ status }) => status === 'succeeded')) {
    const of = paid.filter(({ payments }) =>
      payments.data.some(({ payment }) => payment.payment_intent === charge.payment_intent),
    );
    const [invoice] = of;
    if (of.length !== 1 || !invoice)
      report(`the charge ${charge.id} of ${charge.amount} has ${of.length} paid invoices`);
    else if (invoice.amount_paid !== charge.amount || invoice.currency !== charge.currency) {
      report(
        `the charge ${charge.id} of ${charge.amount} ${charge.currency} is ${invoice.amount_paid} on ${invoice.id}`,
      );
    }
  }
  for (const invoice of paid) {
    const charges = account.charges.filter(
      ({ status, payment_intent: intent }) =>
        status === 'succeeded' && invoice.payments.data.some(({ payment }) => payment.payment_intent === intent),
    );
    if (charges.length !== (invoice.amount_paid > 0 ? 1 : 0)) report(`${invoice.id} has ${charges.length} charges`);
    const own = orders.filter(({ invoiceId }) => invoiceId === invoice.id);
    const sale = saleOf(books, invoice);
    if (own.length !== (sale ? 1 : 0)) report(`${invoice.id} of ${invoice.amount_paid} has ${own.length} orders`);
    for (const order of own) {
      const facts = [order.paidCents, order.currency, order.planId].join(' ');
      const expected = [invoice.amount_paid, invoice.currency, sale?.planId].join(' ');
      if (facts !== expected) report(`the order of ${invoice.id} is "${facts}", the invoice "${expected}"`);
    }
  }
  const unknown = orders.filter(({ invoiceId }) => !paid.some(({ id }) => id === invoiceId));
  for (const { invoiceId } of unknown) report(`there is an order of ${invoiceId}, which is not paid`);
}

/** The member has come back to a purchase whose answer was lost: its one payment is what this press confirms. */
const isReturn = ({ planId, dueCents }: Press, before: Press | undefined): boolean =>
  before?.invoiceId !== undefined &&
  ['failed', 'unknown'].includes(before.outcome) &&
  before.planId === planId &&
  before.dueCents === dueCents;

/** O2: what was announced and said to be done was done. */
export function judgeAnnounced({ account, member, findings, nowMs }: Settled): void {
  const { presses, payments } = member.ledger;
  for (const { atMs, cents } of payments) {
    const paid = account.invoices.some(
      (invoice) => invoice.status === 'paid' && invoice.amount_paid === cents && paidAt(invoice) * 1_000 + 999 >= atMs,
    );
    if (!paid) findings.report('O2', member, `"Pay now" named ${cents} and was done, and no invoice is paid with that`);
  }
  for (const [index, press] of presses.entries()) {
    const { outcome, dueCents, invoiceId, atMs, planId } = press;
    if (outcome !== 'done' || dueCents === 0 || invoiceId !== undefined || atMs > nowMs) continue;
    if (isReturn(press, presses[index - 1])) continue;
    findings.report('O2', member, `${dueCents} for ${planId} was announced and confirmed, and no invoice is paid`);
  }
}

/** The subscription is settled: nothing is under way that the page does not speak of as a next charge. */
export function isCalm({ books, account }: Unseen, live: Subscription | undefined): boolean {
  const waits = account.invoices.some(({ status }) => status === 'draft' || status === 'open');
  if (!live) return !waits;
  const isSettled = ['active', 'trialing'].includes(live.status) || resumesAt(books, live) !== undefined;
  return !waits && isSettled && !live.pending_update;
}

/** O4, the amount from the end of a discount on. */
function judgeRegular({ member, findings, forecast }: Settled, { regular }: NextCharge & { kind: 'charge' }): void {
  const later = regular && forecast.kind === 'charge' ? forecast.findChargeFrom(regular.from) : undefined;
  if (!regular || !later || later.cents === regular.cents) return;
  const said = `on the page ${regular.cents} from ${regular.from}`;
  findings.report('O4', member, `${said}; Stripe charges ${later.cents} on ${later.day}`);
}

/** O4 and O5: in a copy of Stripe, time passes without the product. */
export function judgeNextCharge(the: Settled): void {
  const { member, findings, page } = the;
  const { ledger } = member;
  const actual = judgePromises(the);
  if (!actual || !page.next) return;
  if (!keeps(page.next, actual)) {
    findings.report('O4', member, difference([page.next], actual, 'on the page; Stripe does'));
  } else if (page.next.kind === 'charge' && page.next.cents !== undefined) {
    ledger.promises = [page.next];
    judgeRegular(the, page.next);
    if (page.label !== 'Changes' && page.label !== 'Resumes on') ledger.going = page.next;
  }
}

/** The part without the page, which a member who has left cannot open. @returns what Stripe does, if that was promised */
export function judgePromises(the: Unseen): Actual | undefined {
  const { account, member, findings, forecast, hasFailed } = the;
  const { ledger } = member;
  const live = account.subscriptions.find(isLive);
  if (!isCalm(the, live)) return undefined;
  const actual = forecast.kind === 'charge' ? forecast : { kind: 'none' as const };
  const possible = ledger.promises.filter((promise) => keeps(promise, actual));
  if (possible.length === 0) {
    findings.report(hasFailed ? 'O5' : 'O4', member, difference(ledger.promises, actual, 'Stripe does'));
    return undefined;
  }
  ledger.promises = possible;
  ledger.mayEnd = false;
  return actual;
}

/** The plan that is tried, also in the hour of the draft of its first charge. */
function planInTrial(books: Books, { subscriptions, invoices }: Account): string | undefined {
  const live = subscriptions.find(isLive);
  const own = invoices.filter(({ parent }) => parent?.subscription_details?.subscription === live?.id);
  const isCharged = own.some((one) => isRenewal(one) && one.status === 'draft');
  const hasPaid = own.some((one) => one.status === 'paid' && saleOf(books, one));
  const isTried = live?.status === 'trialing' || (live?.status === 'active' && isCharged && !hasPaid);
  return isTried ? planOfPrice(books, live?.items.data[0]?.price.id) : undefined;
}

/** The plans that a member may have now. */
function plansNow({ books, account, member, nowMs }: Settled): (string | undefined)[] {
  const base = member.ledger.basePlans;
  const tried = planInTrial(books, account);
  if (tried) return [tried];
  const last: Sale | undefined = paidSales(books, account).at(-1);
  const id = last?.invoice.parent?.subscription_details?.subscription;
  const live = account.subscriptions.find((one) => one.id === id && isLive(one));
  if (!last || !live) return base;
  const end = last.line.period.end * 1_000;
  if (nowMs < end && live.status !== 'past_due') return [last.planId];
  const renewal = account.invoices.findLast(isRenewal);
  if (renewal?.status === 'draft') return [last.planId];
  if (live.status === 'past_due' && nowMs < end + graceDays * dayMs) return [last.planId, ...base];
  return base;
}

/** O6 */
export function judgePlan(the: Settled): void {
  const { books, account, member, findings, plan, page, nowMs } = the;
  const isPaused = (one: Subscription) => one.status === 'paused' && resumesAt(books, one) === undefined;
  if (account.subscriptions.some(isPaused)) return;
  const allowed = plansNow(the);
  if (!allowed.includes(plan)) {
    const words = allowed.map((one) => one ?? 'none').join(' or ');
    findings.report('O6', member, `the claim is ${plan ?? 'none'}, paid for on ${dayOf(nowMs / 1_000)} is ${words}`);
  }
  // In a pause the page names the plan that rests.
  if (page.label === 'Resumes on') return;
  const partner = partnerPlans.find(({ id }) => id === plan)?.name;
  const name = findPlan(plan)?.name ?? partner ?? (plan === freePlanId ? 'Free' : undefined);
  const paidName = soldPlans.find((one) => page.plan?.startsWith(`${one.name}, `))?.name;
  // While a plan rests until it is paid, the page says which one the member has.
  if (name !== undefined && page.label === undefined && page.text.includes(`Until then you have ${name}`)) return;
  if (name !== undefined ? !page.plan?.startsWith(name) : paidName !== undefined && page.label !== undefined) {
    findings.report('O6', member, `the claim is ${plan ?? 'none'}, the page says "${page.plan}"`);
  }
}

/** O8 */
export function judgeRefunds({ books, account, member, findings, orders, page }: Settled): void {
  for (const charge of account.charges) {
    const invoice = account.invoices.find(({ payments }) =>
      payments.data.some(({ payment }) => payment.payment_intent === charge.payment_intent),
    );
    const order = orders.find(({ invoiceId }) => invoiceId === invoice?.id);
    if (!invoice || !order || charge.status !== 'succeeded') continue;
    const refunds = books.refunds.filter(
      (one) => one.charge === charge.id && ['pending', 'succeeded'].includes(one.status),
    );
    const cents = refunds.reduce((sum, { amount }) => sum + amount, 0);
    const disputed = books.disputes.some((one) => one.charge === charge.id && !['won', 'lost'].includes(one.status));
    const row = page.rows.find(({ number }) => number === invoice.number);
    const report = (detail: string) => findings.report('O8', member, `${invoice.id}: ${detail}`);
    if (order.refundedCents !== cents) report(`refunded ${cents} at Stripe, ${order.refundedCents} in the order`);
    if (row && !page.isStripeAway && row.refundedCents !== cents)
      report(`refunded ${cents} at Stripe, ${row.refundedCents} on the page`);
    if (row && row.disputed !== disputed) report(`disputed at Stripe: ${disputed}, on the page: ${row.disputed}`);
  }
}

/** O10, the orders' part. */
export function judgeOrdersWithCodes({ books, account, member, findings, orders }: Settled): void {
  if (member.ledger.codeFault !== undefined) findings.report('O10', member, member.ledger.codeFault);
  for (const invoice of account.invoices.filter(({ status }) => status === 'paid')) {
    const order = orders.find(({ invoiceId }) => invoiceId === invoice.id);
    if (!order) continue;
    // A credit gives back its part of an earlier discount, which is none of this purchase.
    const taken = (saleOf(books, invoice)?.line.discount_amounts ?? []).reduce((sum, { amount }) => sum + amount, 0);
    if (taken !== order.discountCents || taken > 0 !== (order.voucher !== null)) {
      const coupons = couponsOn(books, invoice).join(', ');
      const shown = `${order.discountCents} by ${order.voucher ?? 'no code'}`;
      findings.report('O10', member, `${invoice.id} has ${taken} taken off (${coupons}), its order shows ${shown}`);
    }
  }
}

const per = { month: 'month', year: 'year', day: 'days' } as const;

/** O6, the number of seats: that of the last paid invoice, while the claim has its plan. */
export function judgeSeats({ books, account, member, findings, plan, seats }: Settled): void {
  const last = paidSales(books, account).at(-1);
  if (plan === undefined || last?.planId !== plan) return;
  const expected = findPlan(plan)?.hasSeats ? (last.line.quantity ?? 1) : undefined;
  if (seats !== expected) findings.report('O6', member, `the claim says ${seats} seats, paid for are ${expected}`);
}

/** O12, the page's part. */
export function judgePrice({ account, member, findings, page, plan }: Settled): void {
  const live = account.subscriptions.find(isLive);
  const [item] = live?.items.data ?? [];
  const price: Price | undefined = item?.price;
  if (!price || !live || page.priceCents === undefined || !['active', 'trialing'].includes(live.status)) return;
  if (price.metadata.foyer_plan !== plan) return;
  const interval = price.recurring?.interval ?? 'month';
  const cents = price.unit_amount * (item?.quantity ?? 1);
  if (page.priceCents !== cents || !page.price?.includes(per[interval])) {
    findings.report('O12', member, `the page says "${page.price}", the item's price is ${cents} a ${interval}`);
  }
}
