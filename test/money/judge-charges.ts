import type { Findings } from './findings.ts';
import {
  type Actual,
  changeOfBalance,
  difference,
  following,
  keeps,
  nothing,
  type Press,
  shownBalance,
} from './ledger.ts';
import type { NextCharge } from './read-pages.ts';
import {
  accountOf,
  type Books,
  dayOf,
  type Invoice,
  isCredit,
  isLive,
  isRenewal,
  isResumption,
  paidAt,
  paidSales,
  type Sale,
  saleOf,
} from './stripe-books.ts';
import type { Member } from './world.ts';

interface Case {
  books: Books;
  member: Member;
  findings: Findings;
}

const shown = ({ id, billing_reason, amount_due, amount_paid, status, created }: Invoice) =>
  `invoice ${id} (${billing_reason}, ${status}, due ${amount_due}, paid ${amount_paid}) of ${dayOf(created)}`;

function findPress({ ledger }: Member, invoice: Invoice, { planId }: Sale): Press | undefined {
  return ledger.presses.findLast(
    (press) =>
      press.invoiceId === undefined &&
      press.planId === planId &&
      press.dueCents === invoice.amount_paid &&
      !['changed', 'refused'].includes(press.outcome) &&
      // Stripe counts whole seconds.
      press.atMs <= paidAt(invoice) * 1_000 + 999,
  );
}

/** A purchase that was paid. */
function judgePurchase({ member, findings }: Case, invoice: Invoice, sale: Sale): void {
  const { ledger } = member;
  const press = findPress(member, invoice, sale);
  if (!press) {
    findings.report('O2', member, `${shown(invoice)} sells ${sale.planId}, and the member was not told so`);
    return;
  }
  press.invoiceId = invoice.id;
  const seats = sale.line.quantity ?? 1;
  if (seats !== press.seats) {
    findings.report('O2', member, `${shown(invoice)} sells ${seats} seats, the page has said ${press.seats}`);
  }
  const change = shownBalance(changeOfBalance(invoice.starting_balance, invoice.ending_balance ?? 0));
  const told = shownBalance(press.balance);
  if (change !== told) {
    findings.report('O11', member, `${shown(invoice)} changes the balance: ${change}; shown was: ${told}`);
  }
  ledger.owedCents = Math.max(0, invoice.ending_balance ?? 0);
  ledger.going = press.next ?? { kind: 'charge' };
  ledger.promises = [ledger.going];
  ledger.entries.push({ atMs: paidAt(invoice) * 1_000, text: `paid: ${shown(invoice)}` });
}

/** What is announced as too small to be charged on a day; from the end of a discount on nothing is. */
const smallCentsAt = ({ regular, smallCents = 0 }: NextCharge & { kind: 'charge' }, day: string): number =>
  regular && day >= regular.from ? 0 : smallCents;

/** A renewal, paid or not. */
function judgeRenewal({ member, findings }: Case, invoice: Invoice): void {
  const { ledger } = member;
  const actual: Actual = { kind: 'charge', cents: invoice.amount_due, day: dayOf(invoice.created) };
  // A draft has met the promises of its own hour; what was done since is about the period after it.
  const promises = ledger.drafts.get(invoice.id) ?? ledger.promises;
  const promise = promises.find((one) => keeps(one, actual));
  ledger.entries.push({ atMs: invoice.created * 1_000, text: `renewed: ${shown(invoice)}` });
  if (!promise) {
    findings.report('O3', member, difference(promises, actual, `${shown(invoice)} charges`));
    return;
  }
  const change = (invoice.ending_balance ?? 0) - invoice.starting_balance;
  // A debt was named with the purchase that has left it, and is in the announced amount or in what is too small.
  const announced =
    promise.kind === 'charge' ? smallCentsAt(promise, actual.day) + (promise.creditCents ?? 0 - ledger.owedCents) : 0;
  // No page was opened since the renewal before this one: how much the credit pays is not said.
  const isSaid = promise.kind === 'charge' && promise.cents !== undefined;
  // Its balance is taken up when it is finalized, however late it is paid; a void one gives it back.
  const isFinal = invoice.status !== 'void';
  if (isSaid && isFinal && change !== announced) {
    findings.report('O11', member, `${shown(invoice)} changes the balance by ${change}, announced was ${announced}`);
  }
  const { owedCents } = ledger;
  if (isFinal) ledger.owedCents = Math.max(0, invoice.ending_balance ?? 0);
  if (promises === ledger.promises) {
    ledger.going = following(promise, { day: actual.day, owedCents });
    ledger.promises = ledger.mayEnd ? [ledger.going, nothing] : [ledger.going];
    return;
  }
  // An act in the hour of the draft that has failed has left the promise of this very charge.
  const next = (one: NextCharge) =>
    one.kind === 'charge' && one.day === actual.day && keeps(one, actual)
      ? following(one, { day: actual.day, owedCents })
      : one;
  ledger.going = next(ledger.going);
  ledger.promises = ledger.promises.map(next);
}

/** A subscription has ended because its renewal was not paid in time: nothing follows. */
function endUnpaid({ books, member: { email, ledger } }: Case): void {
  const { invoices, subscriptions } = accountOf(books, email);
  for (const invoice of invoices) {
    const { id, status, parent } = invoice;
    if (!isRenewal(invoice) && !isResumption(books, invoice)) continue;
    if (!['void', 'uncollectible'].includes(status) || ledger.ended.has(id)) continue;
    const subscription = subscriptions.find((one) => one.id === parent?.subscription_details?.subscription);
    if (!subscription || isLive(subscription)) continue;
    ledger.ended.add(id);
    ledger.going = nothing;
    ledger.promises = [nothing];
  }
}

/** O2 and O3, and O11 of the same invoices: each new invoice once, in the order of time. */
function judgeNewInvoices(the: Case): void {
  const { books, member } = the;
  const { invoices } = accountOf(books, member.email);
  for (const invoice of invoices) {
    const { id, status } = invoice;
    if (the.findings.isBroken(member)) return;
    if (status === 'draft' && !member.ledger.drafts.has(id)) member.ledger.drafts.set(id, member.ledger.promises);
    if (member.ledger.judged.has(id) || status === 'draft') continue;
    const sale = saleOf(books, invoice);
    // A purchase that is not paid may never be.
    const isResumed = isResumption(books, invoice);
    if (!isRenewal(invoice) && status !== 'paid') continue;
    member.ledger.judged.add(id);
    if (sale && (isRenewal(invoice) || isResumed)) judgeRenewal(the, invoice);
    else if (sale) judgePurchase(the, invoice, sale);
    else if (invoice.amount_paid > 0) the.findings.report('O2', member, `${shown(invoice)} charges without a sale`);
  }
}

/** O7: a period that begins within an earlier one must give the rest of that back, unless it had cost nothing. */
function judgePeriods({ books, member, findings }: Case): void {
  const account = accountOf(books, member.email);
  const endOf = (sale: Sale) => {
    const id = sale.invoice.parent?.subscription_details?.subscription;
    const ended = account.subscriptions.find((one) => one.id === id)?.ended_at;
    return Math.min(sale.line.period.end, ended ?? Number.POSITIVE_INFINITY);
  };
  const sales = paidSales(books, account).toSorted((one, other) => one.line.period.start - other.line.period.start);
  for (const [index, sale] of sales.entries()) {
    const before = sales[index - 1];
    if (!before || sale.line.period.start >= endOf(before)) continue;
    const givesBack = sale.invoice.lines.data.some(isCredit);
    const taken = (before.line.discount_amounts ?? []).reduce((sum, { amount }) => sum + amount, 0);
    if (!givesBack && before.line.amount > taken) {
      const [one, other] = [before, sale].map(({ line }) => `${dayOf(line.period.start)} to ${dayOf(line.period.end)}`);
      findings.report('O7', member, `${one} and ${other} are both paid`);
    }
  }
}

/** O9 */
function judgeAccounts({ books, member, findings }: Case): void {
  const { customers, subscriptions } = accountOf(books, member.email);
  if (customers.length > 1) findings.report('O9', member, `${customers.length} customers`);
  const live = subscriptions.filter(isLive);
  if (live.length > 1)
    findings.report('O9', member, `live: ${live.map(({ id, status }) => `${id} ${status}`).join(', ')}`);
}

/** What must hold at any moment, seen from Stripe. */
export function judgeCharges(the: Case): void {
  if (the.findings.isBroken(the.member)) return;
  judgeNewInvoices(the);
  endUnpaid(the);
  judgePeriods(the);
  judgeAccounts(the);
}
