import type { Engine } from '../../sandbox/stripe/index.ts';
import * as acts from './acts.ts';
import { findPlan, freePlanId } from './catalogue.ts';
import { nothing, type Outcome, type Press, shownAnnouncement, shownNext } from './ledger.ts';
import { type Operation, type Random, shownOperation } from './operations.ts';
import { balanceChange } from './read-pages.ts';
import { accountOf, isLive, saleOf } from './stripe-books.ts';
import { type Member, nextTime, type World } from './world.ts';

type Of<K extends Operation['kind']> = Extract<Operation, { kind: K }>;

const pathOf = (planId: string) => `/plan-purchase/${planId}`;

/** @returns whether the act has failed and nobody has repeated it */
export async function perform(world: World, operation: Operation, random: Random): Promise<boolean> {
  const member = world.members[operation.member];
  if (!member) throw new Error('there is no such member');
  note(world, member, shownOperation(operation));
  if (await performAlone(world, member, { operation, random })) return false;
  if (member.ledger.hasLeft) return false;
  const first = await once(world, member, operation);
  if (!first.failed || !operation.returns) return first.failed;
  note(world, member, 'comes back');
  return (await once(world, member, { ...operation, fault: undefined })).failed;
}

function note(world: World, { ledger }: Member, text: string): void {
  ledger.entries.push({ atMs: world.nowMs(), text });
}

/** What no member does: time, events, the operator, the bank's side. @returns whether it was one of these */
async function performAlone(
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
    case 'day': {
      const at = nextTime(world.nowMs(), (new Date(world.nowMs()).getUTCMonth() + 1) % 12 || 12, operation.day);
      // A month without that day: the year after would be too far away.
      if (at - world.nowMs() < 70 * 24 * 60 * 60_000) await world.pass(at - world.nowMs());
      return true;
    }
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
    case 'refund':
    case 'dispute':
      giveBack(world, member, operation);
      return true;
    default:
      return false;
  }
}

/** Time until the end of the member's period, which a year away is left out. */
async function passPeriod(world: World, { email }: Member, afterMs: number): Promise<void> {
  const live = accountOf(world.books(), email).subscriptions.find(isLive);
  const end = live?.items.data[0]?.current_period_end;
  const ms = end === undefined ? 0 : end * 1_000 + afterMs - world.nowMs();
  if (ms > 0 && ms < 400 * 24 * 60 * 60_000) await world.pass(ms);
}

function giveBack(world: World, { email }: Member, operation: Of<'refund' | 'dispute'>): void {
  const books = world.books();
  const { invoices, charges } = accountOf(books, email);
  const paid = invoices.findLast((one) => one.status === 'paid' && one.amount_paid > 0 && saleOf(books, one));
  const intents = paid?.payments.data.map(({ payment }) => payment.payment_intent);
  const charge = charges.find(
    ({ payment_intent: intent, status }) => status === 'succeeded' && intents?.includes(intent),
  );
  const { engine } = world.shop.stripe;
  if (!paid || !charge || charge.disputed) return;
  if (operation.kind === 'dispute') {
    engine.dispute(paid.id);
    return;
  }
  const cents = Math.floor((charge.amount - charge.amount_refunded) * operation.share);
  if (cents > 0) engine.refund(paid.id, cents);
}

interface Done {
  outcome: Outcome;
  failed: boolean;
}

/** One act of a member, with its fault. */
async function once(world: World, member: Member, operation: Operation): Promise<Done> {
  const hand = { visitor: member.visitor, engine: world.shop.stripe.engine };
  const outcome = await press(world, member, { hand, operation });
  note(world, member, `→ ${outcome}`);
  return { outcome, failed: ['failed', 'unknown'].includes(outcome) };
}

interface Hand {
  hand: { visitor: Member['visitor']; engine: Engine };
  operation: Operation;
}

async function press(world: World, member: Member, { hand, operation }: Hand): Promise<Outcome> {
  const simple = async (act: () => Promise<Outcome>): Promise<Outcome> =>
    (await world.during(operation.fault, act)).result ?? 'unknown';
  switch (operation.kind) {
    case 'buy':
      return buy(world, member, { hand, operation });
    case 'cancel':
      return cancel(world, member, { hand, operation });
    case 'resume':
      return resume(world, member, { hand, operation });
    case 'pay':
      return simple(async () => (await acts.pressOnly(hand, `${acts.membershipPath}/pay`)).outcome);
    case 'card': {
      if (operation.fails) return turnBad(world, member);
      return simple(() => acts.changeCard(hand, operation.card));
    }
    case 'bank':
      return answerBank(world, member, { hand, operation });
    case 'free':
      return takeFree(world, member, { hand, operation });
    case 'leave':
      return leave(world, member, { hand, operation });
    default:
      throw new Error(`nobody can ${operation.kind}`);
  }
}

/** The page announces, then the member presses: only the press meets the fault. */
async function buy(world: World, member: Member, { hand, operation }: Hand): Promise<Outcome> {
  if (operation.kind !== 'buy') return 'refused';
  const { ledger } = member;
  const before = [...ledger.promises];
  const { announcement, promo } = await acts.announce(hand, operation.planId, operation.code);
  if (!announcement) return 'refused';
  note(world, member, `page: ${shownAnnouncement(announcement)}${promo ? `, code ${promo}` : ''}`);
  const pressed: Press = {
    atMs: world.nowMs(),
    planId: announcement.planId,
    dueCents: announcement.dueCents,
    next: announcement.next,
    balanceChange: balanceChange(announcement.lines),
    promo,
    outcome: 'unknown',
  };
  ledger.presses.push(pressed);
  const { result } = await world.during(operation.fault, () => acts.confirm(hand, announcement, operation.card));
  pressed.outcome = result ?? 'unknown';
  const wanted = announcement.next ?? { kind: 'charge' as const };
  // A charge is judged by its invoice, which sets the promise.
  const isLater = announcement.dueCents === 0 && announcement.next?.kind === 'charge' && announcement.next.planName;
  if (pressed.outcome === 'done' && isLater) ledger.promises = [wanted];
  else if (pressed.outcome !== 'done' && !['refused', 'changed'].includes(pressed.outcome))
    ledger.promises = [...before, wanted];
  return pressed.outcome;
}

async function cancel(world: World, member: Member, { hand, operation }: Hand): Promise<Outcome> {
  const { ledger } = member;
  const done = await world.during(operation.fault, () => acts.pressOnly(hand, `${acts.membershipPath}/cancel`));
  const { outcome, text } = done.result ?? { outcome: 'unknown' as const, text: '' };
  if (outcome === 'refused') return outcome;
  if (/It ends at once/.test(text)) ledger.endedAtOnce = true;
  ledger.promises = outcome === 'done' || outcome === 'noted' ? [nothing] : [...ledger.promises, nothing];
  return outcome;
}

async function resume(world: World, member: Member, { hand, operation }: Hand): Promise<Outcome> {
  const { ledger } = member;
  const done = await world.during(operation.fault, () => acts.pressOnly(hand, `${acts.membershipPath}/resume`));
  const outcome = done.result?.outcome ?? 'unknown';
  if (outcome === 'refused') return outcome;
  const isDone = outcome === 'done' || outcome === 'noted';
  ledger.promises = isDone ? [ledger.going] : [...ledger.promises, ledger.going];
  note(world, member, `goes on: ${shownNext(ledger.going)}`);
  return outcome;
}

async function takeFree(world: World, member: Member, { hand, operation }: Hand): Promise<Outcome> {
  const { ledger } = member;
  const { result = 'unknown' } = await world.during(operation.fault, () => acts.takeFree(hand, freePlanId));
  if (result === 'refused') return result;
  ledger.freePlanId = freePlanId;
  ledger.promises = result === 'done' || result === 'noted' ? [nothing] : [...ledger.promises, nothing];
  return result;
}

async function leave(world: World, member: Member, { hand, operation }: Hand): Promise<Outcome> {
  if (operation.kind !== 'leave') return 'refused';
  const { ledger } = member;
  const { result = 'unknown' } = await world.during(operation.fault, () => acts.leave(hand, operation.when));
  if (result === 'refused') return result;
  ledger.hasLeft = true;
  ledger.endedAtOnce ||= operation.when === 'at-once';
  ledger.promises = result === 'done' ? [nothing] : [...ledger.promises, nothing];
  return result;
}

/** From now on each charge of the saved card is declined. */
function turnBad(world: World, { email }: Member): Outcome {
  const { engine } = world.shop.stripe;
  const [customer] = accountOf(world.books(), email).customers;
  if (!customer) return 'refused';
  const path = `/v1/customers/${customer.id}/payment_methods`;
  const { data } = engine.call({ method: 'GET', path, params: { type: 'card' } }) as { data: { id: string }[] };
  for (const { id } of data) engine.setCardBehaviour(id, acts.cards.chargeDeclined);
  return data.length > 0 ? 'done' : 'refused';
}

/** The bank has asked, and the member answers it. */
async function answerBank(world: World, member: Member, { hand, operation }: Hand): Promise<Outcome> {
  if (operation.kind !== 'bank') return 'refused';
  const [customer] = accountOf(world.books(), member.email).customers;
  if (!customer) return 'refused';
  const { data } = hand.engine.call({
    method: 'GET',
    path: '/v1/payment_intents',
    params: { customer: customer.id },
  }) as { data: { id: string; status: string }[] };
  const asked = data.find(({ status }) => status === 'requires_action');
  const waiting = member.ledger.presses.findLast(({ outcome }) => outcome === 'waits');
  if (!asked) return 'refused';
  const path =
    waiting && findPlan(waiting.planId) ? `${pathOf(waiting.planId)}/addPayment` : `${acts.membershipPath}/pay`;
  const act = () => acts.answerBank(hand, asked.id, operation.answer, path);
  return (await world.during(operation.fault, act)).result ?? 'unknown';
}
