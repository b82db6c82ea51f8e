import type { Settled } from './judge-settled.ts';
import { type Account, type Books, isRenewal, paidAt, paidSales, type Sale } from './stripe-books.ts';

const dayMs = 24 * 60 * 60_000;

const paidMs = ({ invoice }: Sale): number => paidAt(invoice) * 1_000;
const subscriptionOf = ({ invoice }: Sale): string | undefined => invoice.parent?.subscription_details?.subscription;

/** The payments of a contract up to this one, the oldest first: a purchase, and the upgrades within its time. */
function findContract(books: Books, account: Account, invoiceId: string | undefined): Sale[] {
  const sales = paidSales(books, account);
  const paid = sales.slice(0, sales.findIndex(({ invoice }) => invoice.id === invoiceId) + 1);
  const own = paid.filter((sale) => subscriptionOf(sale) === subscriptionOf(paid.at(-1) as Sale));
  const begins = own.findLastIndex(
    (sale, at) =>
      !isRenewal(sale.invoice) && !own.slice(0, at).some(({ line }) => line.period.end * 1_000 > paidMs(sale)),
  );
  return own.slice(begins);
}

const daysUntil = (fromMs: number, endMs: number): number => Math.max(1, Math.round((endMs - fromMs) / dayMs));

/** What the days since the purchase cost: each at the price of the plan that the member had then. */
function costOfDays(contract: readonly Sale[], used: number): { cents: number; total: number } {
  const [startMs, lastEnd] = [paidMs(contract[0] as Sale), (contract.at(-1) as Sale).line.period.end * 1_000];
  const endMs = startMs + used * dayMs;
  let [cents, left] = [0n, 0n];
  for (const [at, sale] of contract.entries()) {
    const next = contract[at + 1];
    const untilMs = next ? Math.min(endMs, paidMs(next)) : endMs;
    left += BigInt(sale.invoice.total);
    const days = daysUntil(paidMs(sale), sale.line.period.end * 1_000);
    const cost = (left * BigInt(Math.max(0, untilMs - paidMs(sale)))) / BigInt(days * dayMs);
    left -= cost;
    cents += cost;
  }
  return { cents: Number(cents), total: daysUntil(startMs, lastEnd) };
}

/** Of each payment what went back first after this time; twice the same is a mistake, too. */
function givenBack({ books, account }: Settled, contract: readonly Sale[], atMs: number): number[] {
  return contract.flatMap(({ invoice }) => {
    const intents = invoice.payments.data.map(({ payment }) => payment.payment_intent);
    const charges = account.charges
      .filter(({ payment_intent: intent }) => intents.includes(intent))
      .map(({ id }) => id);
    const later = books.refunds.filter(
      ({ charge, created }) => charges.includes(charge) && created * 1_000 + 999 >= atMs,
    );
    return later.filter(({ amount }) => amount === later[0]?.amount).map(({ amount }) => amount);
  });
}

/** O2: a withdrawal keeps what its days cost, and gives back what it has named, once. */
export function judgeWithdrawals(the: Settled): void {
  const { books, account, member, findings } = the;
  for (const { atMs, invoiceId, cents, isDone, kept } of member.ledger.withdrawals) {
    const contract = findContract(books, account, invoiceId);
    const due = kept && costOfDays(contract, kept.used);
    if (kept && due && (kept.keptCents !== due.cents || kept.total !== due.total)) {
      const said = `keeps ${kept.keptCents} for ${kept.used} of ${kept.total} days`;
      findings.report('O2', member, `a withdrawal ${said}; these cost ${due.cents} of ${due.total} days`);
    }
    const back = givenBack(the, contract, atMs);
    const sum = back.reduce((total, amount) => total + amount, 0);
    if (isDone && sum !== cents)
      findings.report(
        'O2',
        member,
        `a withdrawal named ${cents}, and was given back ${back.join(' and ') || 'nothing'}`,
      );
  }
}
