import type { Findings } from './findings.ts';
import { difference, keeps } from './ledger.ts';
import type { Mail } from './product-process.ts';
import { findDay, findMoney, type MailFacts, type NextCharge, readMail } from './read-pages.ts';
import { accountOf, type Books, dayOf, saleOf } from './stripe-books.ts';
import type { Member } from './world.ts';

interface Case {
  books: Books;
  member: Member;
  findings: Findings;
  nowMs: number;
}

/** The rows of a receipt from the price to what was charged: they and the added tax come to it. */
function sumRows(text: string): number | undefined {
  const lines = text.split('\n');
  const [first, last] = ['Price: ', 'Amount charged: '].map((start) =>
    lines.findIndex((line) => line.startsWith(start)),
  );
  if (first === undefined || last === undefined || first < 0) return undefined;
  return lines.slice(first, last).reduce((sum, line) => {
    const [, minus, amount = ''] = /: (−?)([^:]+)$/.exec(line) ?? [];
    return sum + (minus ? -1 : 1) * (findMoney(amount) ?? Number.NaN);
  }, 0);
}

/** O12 and O1 of a receipt. */
function judgeReceipt({ books, member, findings }: Case, { facts, text }: MailFacts & { text: string }): void {
  const { invoices } = accountOf(books, member.email);
  const invoice = invoices.find(({ number }) => number === facts.Invoice);
  const sale = invoice && saleOf(books, invoice);
  if (!invoice || !sale) {
    findings.report('O1', member, `a receipt of ${facts.Invoice}, which sells nothing`);
    return;
  }
  const paid = findMoney(facts['Amount charged']);
  if (paid !== invoice.amount_paid || invoice.status !== 'paid') {
    findings.report('O1', member, `the receipt of ${invoice.id} says ${paid}, charged is ${invoice.amount_paid}`);
  }
  const addedTax = (invoice.total_taxes ?? [])
    .filter(({ tax_behavior }) => tax_behavior === 'exclusive')
    .reduce((sum, { amount }) => sum + amount, 0);
  const sum = (sumRows(text) ?? Number.NaN) + addedTax;
  if (sum !== paid) {
    findings.report('O1', member, `the rows of the receipt of ${invoice.id} come to ${sum}, it says ${paid}`);
  }
  const price = findMoney(facts.Price);
  const line = sale.line;
  const taken = (line.discount_amounts ?? []).reduce((sum, { amount }) => sum + amount, 0);
  const known = [Math.round(Number(line.pricing?.unit_amount_decimal)), line.amount, line.amount + taken];
  if (price === undefined || !known.includes(price)) {
    findings.report(
      'O12',
      member,
      `the receipt of ${invoice.id} says the price ${price}, at Stripe it is ${known.join(' or ')}`,
    );
  }
  const renews = findDay(facts['Renews on']);
  if (renews !== undefined && renews !== dayOf(line.period.end)) {
    findings.report(
      'O3',
      member,
      `the receipt of ${invoice.id} renews on ${renews}, the period ends on ${dayOf(line.period.end)}`,
    );
  }
}

/** A mail about a change at the end of the period, or about a pause, is a promise, too. */
function judgeChange({ member, findings }: Case, facts: Record<string, string>): void {
  const day = findDay(facts['Changes on'] ?? facts['Resumes on']);
  const cents = findMoney(facts.Price ?? facts['Charged then']);
  if (day === undefined || cents === undefined || cents === 0) return;
  const promises = [...member.ledger.promises, ...member.ledger.mailedPromises];
  const actual = { kind: 'charge' as const, cents, day };
  if (promises.some((promise) => keeps(promise, actual))) return;
  findings.report('O3', member, difference(promises, actual, 'a mail announces'));
}

/** The notice before a yearly renewal repeats what its page has said. */
function judgeNotice({ member, findings }: Case, facts: Record<string, string>): void {
  const [day, cents] = [findDay(facts['Renews on']), findMoney(facts.Amount)];
  if (day === undefined || cents === undefined) {
    findings.report('O3', member, `a notice of a renewal names ${day} and ${cents}`);
    return;
  }
  const all = [...member.ledger.promises, ...member.ledger.mailedPromises];
  const actual = { kind: 'charge' as const, cents, day };
  if (all.some((promise) => keeps(promise, actual))) return;
  findings.report('O3', member, difference(all, actual, 'the notice of a renewal announces'));
}

/** The mails about a trial repeat what its page has said. */
function judgeFirstCharge({ member, findings }: Case, { subject, facts }: MailFacts): void {
  const { promises, mailedPromises, trialMails } = member.ledger;
  const [day, cents] = [findDay(facts['First payment on']), findMoney(facts.Amount)];
  trialMails.push({ kind: /has begun/.test(subject) ? 'began' : 'ends', day });
  if (day === undefined || cents === undefined) {
    findings.report('O14', member, `a mail about a trial names ${day} and ${cents}`);
    return;
  }
  const all = [...promises, ...mailedPromises];
  const isSaid = (one: NextCharge) =>
    one.kind === 'charge' && [undefined, day].includes(one.day) && [undefined, cents].includes(one.cents);
  if (!all.some(isSaid))
    findings.report('O3', member, difference(all, { kind: 'charge', cents, day }, 'a mail announces'));
}

/** Every mail once, although the product may send one again after it was killed. */
export function judgeMails(the: Case, mails: readonly Mail[]): void {
  const { member, findings, nowMs } = the;
  for (const mail of mails) {
    if (mail.to !== member.email || member.ledger.mailKeys.has(mail.key)) continue;
    member.ledger.mailKeys.add(mail.key);
    const { subject, facts } = readMail(mail);
    if (!('Plan' in facts) && !('Changes on' in facts) && !('Amount' in facts)) continue;
    const shown = [
      'Plan',
      'Price',
      'Amount charged',
      'Amount',
      'Renews on',
      'First payment on',
      'Ends on',
      'Changes on',
      'Resumes on',
      'Charged then',
      'Plan from then on',
    ]
      .flatMap((label) => (facts[label] === undefined ? [] : `${label} ${facts[label]}`))
      .join(', ');
    member.ledger.entries.push({ atMs: nowMs, text: `mail "${subject}": ${shown}` });
    if (findings.isBroken(member)) continue;
    if ('Amount charged' in facts) judgeReceipt(the, { subject, facts, text: mail.text });
    else if ('First payment on' in facts) judgeFirstCharge(the, { subject, facts });
    else if ('Renews on' in facts && 'Amount' in facts) judgeNotice(the, facts);
    else if ('Changes on' in facts || 'Resumes on' in facts) judgeChange(the, facts);
  }
  member.ledger.mailedPromises = member.ledger.promises;
}
