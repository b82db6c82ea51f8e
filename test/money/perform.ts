import type { Engine } from '../../sandbox/stripe/index.ts';
import * as acts from './acts.ts';
import { best, confirmByApi } from './api-acts.ts';
import { findPlan, freePlanId, partnerPlans } from './catalogue.ts';
import { findCodeFault } from './judge-codes.ts';
import { findOfferFault, noteCard } from './judge-trials.ts';
import { nothing, type Outcome, type Press, readBalance, shownAnnouncement, shownNext } from './ledger.ts';
import { type Operation, type Random, shownOperation } from './operations.ts';
import { performAlone } from './outside.ts';
import { type Announcement, type NextCharge, readKeptDays, readNextCharge } from './read-pages.ts';
import { accountOf, dayOf, isLive, paidSales, planOfPrice } from './stripe-books.ts';
import type { Member, World } from './world.ts';

const pathOf = (planId: string) => `/plan-purchase/${planId}`;

/** How an operation ended. */
export interface Performed {
  member: Member;
  /** The act has failed, and was not repeated. */
  failed: boolean;
  /** It has failed although nothing was wrong. */
  withoutFault: boolean;
}

export async function perform(world: World, operation: Operation, random: Random): Promise<Performed> {
  const member = world.members[operation.member];
  if (!member) throw new Error('there is no such member');
  note(world, member, shownOperation(operation));
  const nothingFailed = { member, failed: false, withoutFault: false };
  if (await performAlone(world, member, { operation, random })) return nothingFailed;
  if (member.ledger.leftAtMs !== undefined) return nothingFailed;
  const first = await once(world, member, operation);
  if (!first.failed || !operation.returns) return { member, ...first };
  note(world, member, 'comes back');
  const second = await once(world, member, { ...operation, fault: undefined });
  return { member, ...second, withoutFault: first.withoutFault || second.withoutFault };
}

function note(world: World, { ledger }: Member, text: string): void {
  ledger.entries.push({ atMs: world.nowMs(), text });
}

/** One act of a member, with its fault. */
async function once(world: World, member: Member, operation: Operation): Promise<Omit<Performed, 'member'>> {
  const hand = { visitor: member.visitor, engine: world.shop.stripe.engine };
  const faults = world.faultsMet;
  const outcome = await press(world, member, { hand, operation });
  note(world, member, `→ ${outcome}`);
  const failed = ['failed', 'unknown'].includes(outcome);
  return { failed, withoutFault: failed && world.faultsMet === faults };
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
    case 'pause':
      return pause(world, member, { hand, operation });
    case 'pay':
      return pay(world, member, { hand, operation });
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
    case 'deal':
      return takeDeal(world, member, { hand, operation });
    case 'withdraw':
      return withdraw(world, member, { hand, operation });
    default:
      throw new Error(`no member can ${operation.kind}`);
  }
}

/** The page announces, then the member presses: only the press meets the fault. */
async function buy(world: World, member: Member, { hand, operation }: Hand): Promise<Outcome> {
  if (operation.kind !== 'buy') return 'refused';
  const { ledger } = member;
  const before = [...ledger.promises];
  const planId = operation.planId === 'present' ? presentPlan(world, member) : operation.planId;
  if (planId === undefined) return 'refused';
  const { announcement, promo, page, usedUp } = await acts.announce(hand, planId, operation);
  ledger.codeFault ??= findCodeFault(world.members, member, usedUp);
  if (!announcement) return page.status >= 500 ? 'failed' : 'refused';
  note(world, member, `page: ${shownAnnouncement(announcement)}${promo ? `, code ${promo}` : ''}`);
  // The JSON API sells without a trial, and names no charge but that of today.
  const next =
    announcement.trialDays !== undefined && operation.way === 'api' ? { kind: 'charge' as const } : announcement.next;
  const tried = announcement.trialDays !== undefined && next?.kind === 'charge' ? next : undefined;
  const pressed: Press = {
    atMs: world.nowMs(),
    planId: announcement.planId,
    dueCents: announcement.dueCents,
    next,
    balance: readBalance(announcement.lines),
    promo,
    seats: announcement.seats,
    trialDay: tried?.day,
    outcome: 'unknown',
  };
  ledger.offerFault ??= findOfferFault({ books: world.books(), member, members: world.members }, announcement);
  ledger.presses.push(pressed);
  const { result } = await world.during(operation.fault, () =>
    pressInWays(world, member, { hand, operation, announcement, promo }),
  );
  pressed.outcome = result ?? 'unknown';
  noteCard(world.books(), member);
  const wanted = next ?? { kind: 'charge' as const };
  // A charge is judged by its invoice, which sets the promise.
  const isLater = announcement.dueCents === 0 && next?.kind === 'charge' && (next.planName ?? tried?.day);
  const isTold = pressed.outcome === 'done' || pressed.outcome === 'noted';
  if (isTold && isLater) ledger.promises = [wanted];
  else if (pressed.outcome !== 'done' && !['refused', 'changed'].includes(pressed.outcome))
    ledger.promises = [...before, wanted];
  return pressed.outcome;
}

/** The plan of the live subscription: to buy it again keeps it. */
function presentPlan(world: World, { email }: Member): string | undefined {
  const books = world.books();
  const live = accountOf(books, email).subscriptions.find(isLive);
  return planOfPrice(books, live?.items.data[0]?.price.id);
}

type Pressing = Hand & { announcement: Announcement; promo: string | undefined };

/** By the page, by the page in two tabs at once, or by the JSON API. */
async function pressInWays(
  world: World,
  { email }: Member,
  { hand, operation, announcement, promo }: Pressing,
): Promise<Outcome> {
  if (operation.kind !== 'buy') return 'refused';
  const byPage = () => acts.confirm(hand, announcement, operation.card);
  if (operation.way === 'page') return byPage();
  if (operation.way === 'twice') return best(await Promise.all([byPage(), byPage()]));
  const { customers, subscriptions } = accountOf(world.books(), email);
  const [customer] = customers;
  const subscription = subscriptions.find(isLive) ?? subscriptions.at(-1);
  if (!customer || !subscription) return 'refused';
  return confirmByApi(hand.visitor, `/customer/${customer.id}/subscription/${subscription.id}`, {
    announcement,
    promo,
  });
}

/** Pays what is open: the page has named the amount. */
async function pay(world: World, member: Member, { hand, operation }: Hand): Promise<Outcome> {
  const atMs = world.nowMs();
  const done = await world.during(operation.fault, () => acts.pressOnly(hand, `${acts.membershipPath}/pay`));
  const { outcome = 'unknown', amountCents } = done.result ?? {};
  if (outcome === 'done' && amountCents !== undefined) member.ledger.payments.push({ atMs, cents: amountCents });
  return outcome;
}

async function cancel(world: World, member: Member, { hand, operation }: Hand): Promise<Outcome> {
  const { ledger } = member;
  const done = await world.during(operation.fault, () => acts.pressOnly(hand, `${acts.membershipPath}/cancel`));
  const outcome = done.result?.outcome ?? 'unknown';
  if (outcome === 'refused') return outcome;
  ledger.promises = outcome === 'done' || outcome === 'noted' ? [nothing] : [...ledger.promises, nothing];
  return outcome;
}

async function resume(world: World, member: Member, { hand, operation }: Hand): Promise<Outcome> {
  const { ledger } = member;
  let read: Partial<Awaited<ReturnType<typeof acts.pressOnly>>> = {};
  const done = await world.during(operation.fault, () =>
    acts.pressOnly(hand, `${acts.membershipPath}/resume`, (page) => {
      read = page;
    }),
  );
  const { outcome = 'unknown', text = '', amountCents } = done.result ?? read;
  if (outcome === 'refused') return outcome;
  const isDone = outcome === 'done' || outcome === 'noted';
  // The end of a pause charges at once.
  const atOnce = /resumes right away\./.test(text) ? amountCents : undefined;
  const today = dayOf(world.nowMs() / 1_000);
  const going: NextCharge =
    atOnce === undefined ? (readNextCharge(text) ?? ledger.going) : { kind: 'charge', day: today, cents: atOnce };
  ledger.promises = isDone ? [going] : [...ledger.promises, going];
  note(world, member, `goes on: ${shownNext(going)}`);
  return outcome;
}

/** The plan goes on after the pause with the announced charge; a pause that is noted may come too late for the period. */
async function pause(world: World, member: Member, { hand, operation }: Hand): Promise<Outcome> {
  if (operation.kind !== 'pause') return 'refused';
  const { ledger } = member;
  const done = await world.during(operation.fault, () => acts.pause(hand, operation.months));
  const { outcome = 'unknown', resumption } = done.result ?? {};
  if (outcome === 'refused' || outcome === 'changed') return outcome;
  const announced = resumption ?? { kind: 'charge' as const };
  note(world, member, `page: after the pause ${shownNext(announced)}`);
  ledger.promises = outcome === 'done' ? [announced] : [...ledger.promises, announced];
  return outcome;
}

async function takeFree(world: World, member: Member, { hand, operation }: Hand): Promise<Outcome> {
  const { ledger } = member;
  const { result = 'unknown' } = await world.during(operation.fault, () => acts.takeFree(hand, freePlanId));
  if (result === 'refused') return result;
  takeBasePlan(ledger, freePlanId, result);
  return result;
}

/** A plan without payment: the paid one ends with its period. */
function takeBasePlan(ledger: Member['ledger'], planId: string, outcome: Outcome): void {
  const isDone = outcome === 'done' || outcome === 'noted';
  ledger.basePlans = isDone ? [planId] : [...ledger.basePlans, planId];
  ledger.promises = isDone ? [nothing] : [...ledger.promises, nothing];
}

/** The operator imports the deal, and the member confirms it. */
async function takeDeal(world: World, member: Member, { hand, operation }: Hand): Promise<Outcome> {
  if (operation.kind !== 'deal') return 'refused';
  const plan = partnerPlans.find(({ tier }) => tier === operation.tier);
  if (!plan) return 'refused';
  await world.offerDeal(member.email, plan.tier);
  const { result = 'unknown' } = await world.during(operation.fault, () => acts.confirmDeal(hand, plan.id));
  if (result === 'refused' || result === 'changed') return result;
  takeBasePlan(member.ledger, plan.id, result);
  return result;
}

/** The page names what is given back. */
async function withdraw(world: World, { ledger, email }: Member, { hand, operation }: Hand): Promise<Outcome> {
  const [atMs, books] = [world.nowMs(), world.books()];
  const invoiceId = paidSales(books, accountOf(books, email)).at(-1)?.invoice.id;
  const done = await world.during(operation.fault, () => acts.pressOnly(hand, `${acts.membershipPath}/withdraw`));
  const { outcome = 'unknown', amountCents, text = '' } = done.result ?? {};
  if (outcome === 'refused') return outcome;
  const isDone = outcome === 'done' || outcome === 'noted';
  if (amountCents !== undefined) {
    // What is not owed any more is named too, alone where nothing was paid.
    if (/ We give [^.]+\.\d\d back /.test(text))
      ledger.withdrawals.push({ atMs, invoiceId, cents: amountCents, isDone, kept: readKeptDays(text) });
  }
  ledger.promises = isDone ? [nothing] : [...ledger.promises, nothing];
  return outcome;
}

async function leave(world: World, member: Member, { hand, operation }: Hand): Promise<Outcome> {
  if (operation.kind !== 'leave') return 'refused';
  const { ledger } = member;
  const { result = 'unknown' } = await world.during(operation.fault, () => acts.leave(hand, operation.when));
  if (result === 'refused') return result;
  // Without an answer the request may not be stored; if it is, the next sign-in takes it back.
  if (result === 'done') ledger.leftAtMs = world.nowMs();
  // A repetition that is done has answered that: another look would sign in.
  ledger.mayHaveLeft = result !== 'done';
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
