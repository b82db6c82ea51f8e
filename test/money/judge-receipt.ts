import { findPlan } from './catalogue.ts';
import { isCalm, type Settled } from './judge-settled.ts';
import { difference, keeps } from './ledger.ts';
import { findMoney, listFacts, mainOf, type NextCharge, readNextCharge, wordsOf } from './read-pages.ts';
import { isLive, paidSales } from './stripe-books.ts';

interface Receipt {
  paidCents: number | undefined;
  next: NextCharge | undefined;
}

/** The page after a purchase. */
export const readReceipt = (html: string): Receipt => ({
  paidCents: findMoney(listFacts(html).find(({ label }) => /^Paid$/.test(label))?.value),
  next: readNextCharge(wordsOf(mainOf(html))),
});

/** The page after a purchase of this plan; undefined: it is not sold. */
export function receiptPath(planId: string | undefined): string | undefined {
  const plan = findPlan(planId);
  return plan && `/signup/completed/${plan.code}`;
}

/** O1 and O4, the page after a purchase: what it says was paid last, and is paid next. */
export function judgeReceipt(the: Settled, { next, paidCents }: Receipt): void {
  const { books, account, member, findings, forecast, plan } = the;
  const last = paidSales(books, account).at(-1);
  if (paidCents !== undefined && (last?.planId !== plan || last?.invoice.amount_paid !== paidCents)) {
    const paid = last && `${last.invoice.amount_paid} for ${last.planId}`;
    findings.report('O1', member, `the receipt of ${plan} says ${paidCents}; the last payment is ${paid}`);
  }
  const actual = forecast.kind === 'charge' ? forecast : { kind: 'none' as const };
  if (!next || !isCalm(the, account.subscriptions.find(isLive)) || keeps(next, actual)) return;
  findings.report('O4', member, difference([next], actual, 'on the receipt; Stripe does'));
}
