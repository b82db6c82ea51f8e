import { nothing } from './ledger.ts';
import type { Operation, Random } from './operations.ts';
import { accountOf, isLive, resumesAt, saleOf } from './stripe-books.ts';
import { dayMs, type Member, type World } from './world.ts';

type Of<K extends Operation['kind']> = Extract<Operation, { kind: K }>;

/** What no member does: time, events, the operator, the bank's side. @returns whether it was one of these */
export async function performAlone(
  world: World,
  member: Member,
  { operation, random }: { operation: Operation; random: Random },
): Promise<boolean> {
  const { webhooks } = world.shop.stripe;
  switch (operation.kind) {
    case 'time':
      await world.pass(operation.ms);
      return true;
    case 'period':
      await passPeriod(world, member, operation.afterMs);
      return true;
    case 'day':
      await world.pass(daysUntil(world.nowMs(), operation.day) * dayMs);
      return true;
    case 'hold':
      webhooks.mode = 'held';
      return true;
    case 'drop':
      await world.deliver({ twice: false, dropped: true, random });
      world.hasDropped = true;
      return true;
    case 'deliver':
    case 'deliver twice':
      await world.deliver({ twice: operation.kind === 'deliver twice', dropped: false, random });
      return true;
    case 'raise':
      await world.raisePrices(operation.dollars);
      return true;
    case 'crash':
      await world.crash(operation.ms);
      return true;
    case 'refund':
    case 'dispute':
      giveBack(world, member, operation);
      return true;
    case 'decide':
      decide(world, member, operation.succeeds);
      return true;
    default:
      return false;
  }
}

/** Not every month has a thirty-first. */
function daysUntil(nowMs: number, day: number): number {
  let days = 1;
  while (new Date(nowMs + days * dayMs).getUTCDate() !== day) days += 1;
  return days;
}

/** Time until the end of the member's period, which a year away is left out. */
async function passPeriod(world: World, { email }: Member, afterMs: number): Promise<void> {
  const books = world.books();
  const live = accountOf(books, email).subscriptions.find(isLive);
  const end = (live && resumesAt(books, live)) ?? live?.items.data[0]?.current_period_end;
  const ms = end === undefined ? 0 : end * 1_000 + afterMs - world.nowMs();
  if (ms > 0 && ms < 400 * dayMs) await world.pass(ms);
}

/** The operator gives money back, or the bank does. */
function giveBack(world: World, { email, ledger }: Member, operation: Of<'refund' | 'dispute'>): void {
  const books = world.books();
  const { invoices, charges, subscriptions } = accountOf(books, email);
  const paid = invoices.findLast((one) => one.status === 'paid' && one.amount_paid > 0 && saleOf(books, one));
  const intents = paid?.payments.data.map(({ payment }) => payment.payment_intent);
  const charge = charges.find(
    ({ payment_intent: intent, status }) => status === 'succeeded' && intents?.includes(intent),
  );
  const { engine } = world.shop.stripe;
  if (!paid || !charge || charge.disputed) return;
  if (operation.kind === 'dispute') {
    engine.dispute(paid.id);
    // After a dispute the plan ends with its period: the member gets a mail.
    if (subscriptions.some(isLive)) {
      ledger.promises = [...ledger.promises, nothing];
      ledger.mayEnd = true;
    }
    return;
  }
  const cents = Math.floor((charge.amount - charge.amount_refunded) * operation.share);
  if (cents > 0) engine.refund(paid.id, cents, operation.share > 0.7 ? 'pending' : 'succeeded');
}

/** The bank completes what has begun: it sends a refund back, or decides a dispute. */
function decide(world: World, { email }: Member, succeeds: boolean): void {
  const books = world.books();
  const charges = new Set(accountOf(books, email).charges.map(({ id }) => id));
  const { engine } = world.shop.stripe;
  for (const { id, charge, status } of books.refunds) {
    if (!charges.has(charge) || !['pending', 'succeeded'].includes(status)) continue;
    if (!succeeds || status === 'pending') engine.endRefund(id, succeeds ? 'succeeded' : 'failed');
  }
  for (const { id, charge, status } of books.disputes) {
    if (charges.has(charge) && status === 'needs_response') engine.moveDispute(id, succeeds ? 'won' : 'lost');
  }
}
