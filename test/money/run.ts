import { membershipPath } from './acts.ts';
import type { Market } from './catalogue.ts';
import { createFindings, type Finding, type Findings } from './findings.ts';
import { forecast } from './forecast.ts';
import { judgeChange } from './judge-change.ts';
import { judgeCharges } from './judge-charges.ts';
import { judgeRedemptions } from './judge-codes.ts';
import { judgeErasure } from './judge-erasure.ts';
import { judgeMails } from './judge-mails.ts';
import { judgeReceipt, readReceipt, receiptPath } from './judge-receipt.ts';
import {
  judgeAnnounced,
  judgeNextCharge,
  judgeOrders,
  judgeOrdersWithCodes,
  judgePlan,
  judgePrice,
  judgePromises,
  judgeRefunds,
  judgeSeats,
  type Order,
  type Settled,
  type Unseen,
} from './judge-settled.ts';
import { judgeTrialMails, judgeTrials } from './judge-trials.ts';
import { judgeWithdrawals } from './judge-withdrawals.ts';
import { makeOperation, type Operation, pick, type Random, seeded } from './operations.ts';
import { perform } from './perform.ts';
import { readMembershipPage } from './read-membership.ts';
import type { Place, Shop } from './shop.ts';
import { accountOf } from './stripe-books.ts';
import { hourMs, type Member, openWorld, type World } from './world.ts';

export interface RunOptions {
  seed: number;
  operations: number;
  /** The share of the acts during which the process is killed. */
  kills: number;
}

/** A world whose operations a test has chosen; `change` makes the product or Stripe wrong. */
export interface Script extends Partial<Place> {
  operations: readonly Operation[];
  change?: (world: World) => Promise<void> | void;
}

export interface RunResult {
  operations: number;
  kills: number;
  findings: Finding[];
  /** The members who were erased. */
  erased: string[];
}

/** Days on which worlds begin: the ends of short months, and a leap day. */
const beginnings = [
  undefined,
  { month: 1, day: 31 },
  { month: 2, day: 28 },
  { month: 2, day: 29 },
  { month: 11, day: 30 },
] as const;

const settledEvery = 5;

async function readOrders({ visitor }: Member): Promise<Order[]> {
  const file = (await visitor.download('/settings/data')) as { membership: { orders: Order[] } };
  return file.membership.orders;
}

async function judgeNow(world: World, findings: Findings): Promise<void> {
  const mails = await world.takeMails();
  const books = world.books();
  for (const member of world.members) {
    judgeCharges({ books, member, findings });
    judgeErasure({ books, member, findings });
    judgeTrials({ books, member, findings, members: world.members });
    judgeMails({ books, member, findings, nowMs: world.nowMs() }, mails);
  }
}

/** Faults are over, events come, the jobs of some hours run, and the comparison with Stripe if events were lost. */
async function waitQuietly(world: World, random: Random): Promise<void> {
  await world.deliver({ twice: true, dropped: false, random });
  await world.pass(hourMs + 5 * 60_000);
  await world.pass(hourMs);
  if (world.hasDropped) {
    await world.shop.foyer(world.variables, 'billing', 'reconcile', '--json');
    world.hasDropped = false;
  }
  await world.runJobs();
}

async function judgeMember(world: World, findings: Findings, member: Member): Promise<void> {
  if (findings.isBroken(member)) return;
  const books = world.books();
  const account = accountOf(books, member.email);
  const charges = new Set(account.charges.map(({ id }) => id));
  const backs = [...books.refunds, ...books.disputes].filter(({ charge }) => charges.has(charge));
  const changed = JSON.stringify([account, backs, member.ledger.entries.length]);
  // Nothing has happened to the member since they were judged.
  if (account.customers.length === 0 || changed === member.ledger.judgedState) return;
  const unseen: Unseen = {
    books,
    account,
    member,
    findings,
    forecast: forecast(world.state(), member.email, world.nowMs()),
    hasFailed: member.ledger.promises.length > 1,
  };
  if (member.ledger.leftAtMs === undefined) await judgePages(world, unseen);
  else judgePromises(unseen);
  member.ledger.judgedState = JSON.stringify([account, backs, member.ledger.entries.length]);
}

/** What needs the member's pages. */
async function judgePages(world: World, unseen: Unseen): Promise<void> {
  const { member } = unseen;
  const page = readMembershipPage((await member.visitor.open(membershipPath)).html);
  const info = (await member.visitor.call('/user/info')) as { plan?: string; seats?: number } | undefined;
  const settled: Settled = {
    ...unseen,
    nowMs: world.nowMs(),
    page,
    orders: await readOrders(member),
    plan: info?.plan,
    seats: info?.seats,
  };
  for (const judge of [
    judgeOrders,
    judgeAnnounced,
    judgeWithdrawals,
    judgeNextCharge,
    judgeChange,
    judgePlan,
    judgeRefunds,
    judgeOrdersWithCodes,
    judgePrice,
    judgeSeats,
    judgeTrialMails,
  ]) {
    judge(settled);
  }
  const path = receiptPath(settled.plan);
  if (path) judgeReceipt(settled, readReceipt((await member.visitor.open(path)).html));
}

/** Members without an answer look whether they have left, which takes that back before the quiet time. */
async function comeBack({ members }: World): Promise<void> {
  for (const { visitor, ledger } of members.filter((one) => one.ledger.mayHaveLeft)) {
    await visitor.open(membershipPath);
    ledger.mayHaveLeft = false;
  }
}

async function settle(world: World, findings: Findings, random: Random): Promise<void> {
  await comeBack(world);
  await waitQuietly(world, random);
  await judgeNow(world, findings);
  for (const member of world.members) await judgeMember(world, findings, member);
}

const comparable = ['O1', 'O6', 'O8', 'O9'];

/** What a kill may leave until an operator compares: a customer whose id was never stored. */
const leftByKills = 'customer unknown here';

async function compareWithStripe(world: World): Promise<{ what: string; detail?: string }[]> {
  const { out } = await world.shop.foyer(world.variables, 'billing', 'diff', '--json');
  const { differences } = JSON.parse(out) as { differences: { what: string; detail?: string }[] };
  // A purchase that waits for a bank is no fault.
  return differences.filter(({ what }) => what !== 'act unfinished');
}

/** O13: the command tells what is broken and nothing else, and after the operator's repair it tells nothing. */
async function judgeComparison(world: World, findings: Findings): Promise<void> {
  const [first] = world.members;
  if (!first) return;
  const broken = findings.all.filter(({ rule }) => comparable.includes(rule));
  const told = await compareWithStripe(world);
  const unexpected = told.filter(({ what }) => what !== leftByKills);
  if (broken.length > 0 ? told.length === 0 : unexpected.length > 0) {
    const shown = `${broken.length} findings of ${comparable.join(', ')}; the command says ${JSON.stringify(told)}`;
    findings.report('O13', first, shown);
    return;
  }
  if (broken.length > 0) return;
  const { out } = await world.shop.foyer(world.variables, 'billing', 'reconcile', '--json');
  const left = await compareWithStripe(world);
  if (left.length === 0) return;
  findings.report('O13', first, `after "foyer billing reconcile" (${out}) the command says ${JSON.stringify(left)}`);
}

/** Does the operations one after another, and judges after each. */
async function judgeAll(world: World, random: Random, operations: Iterable<Operation>): Promise<RunResult> {
  const findings = createFindings();
  let done = 0;
  for (const operation of operations) {
    done += 1;
    const { member, failed, withoutFault } = await perform(world, operation, random);
    if (withoutFault && !findings.isBroken(member)) {
      findings.report('O4', member, `what the page offered has failed, and nothing was wrong: ${operation.kind}`);
    }
    await judgeNow(world, findings);
    if (failed || done % settledEvery === 0) await settle(world, findings, random);
  }
  await settle(world, findings, random);
  judgeRedemptions(world.books(), world.members, findings);
  await judgeComparison(world, findings);
  const erased = world.members.filter(({ ledger }) => ledger.isErased).map(({ email }) => email);
  return { operations: done, kills: world.kills, findings: findings.all, erased };
}

/** One world, from its seed alone. */
export async function runWorld(shop: Shop, { seed, operations, kills }: RunOptions): Promise<RunResult> {
  const random = seeded(seed);
  const market: Market = {
    currency: random() < 0.8 ? 'usd' : 'eur',
    tax: pick(random, [undefined, undefined, 'inclusive', 'exclusive']),
  };
  const place = { hasServers: random() < 0.2, processes: random() < 0.3 ? 2 : 1 };
  const world = await openWorld(shop, { market, beginsAt: pick(random, beginnings), ...place });
  function* chosen() {
    for (let done = 0; done < operations; done += 1) {
      yield makeOperation(random, { members: world.members.length, kills });
    }
  }
  try {
    return await judgeAll(world, random, chosen());
  } finally {
    await world.close();
  }
}

export async function runScript(shop: Shop, { operations, change, ...place }: Script): Promise<RunResult> {
  const world = await openWorld(shop, { market: { currency: 'usd' }, hasServers: false, processes: 1, ...place });
  try {
    await change?.(world);
    return await judgeAll(world, seeded(1), operations);
  } finally {
    await world.close();
  }
}
