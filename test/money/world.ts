import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StripeEvent } from '../../sandbox/stripe/index.ts';
import { catalogueFile, type Market } from './catalogue.ts';
import type { EngineState } from './forecast.ts';
import { createLedger, type Ledger } from './ledger.ts';
import type { Mail, ProductProcess } from './product-process.ts';
import { freePort, members, type Place, type Shop } from './shop.ts';
import { type Books, readBooks } from './stripe-books.ts';
import { createVisitor, type Visitor } from './visitor.ts';

export const hourMs = 60 * 60_000;
export const dayMs = 24 * hourMs;
const minuteMs = 60_000;
/** More than a month is passed in larger steps. */
const longMs = 40 * dayMs;
const erasedAfterMs = 14 * dayMs;

/** A fault at one request of the product to Stripe; with `kill`, the product ends at that moment. */
export interface Fault {
  kind: 'unreachable' | 'lost' | 'error' | 'kept-error' | 'rate-limit' | 'kill before' | 'kill after' | 'kill soon';
  /** Which request that changes something; of `kill soon`: after how many milliseconds. */
  n: number;
}

export interface Member {
  email: string;
  visitor: Visitor;
  ledger: Ledger;
}

/** One Foyer with some members, and everything that its oracle knows. */
export interface World {
  shop: Shop;
  market: Market;
  variables: Record<string, string>;
  members: Member[];
  kills: number;
  /** Events were lost: only a comparison with Stripe finds what they said. */
  hasDropped: boolean;
  /** A fault that no request has met yet: it waits for the next act. */
  waitingFault: Fault | undefined;
  readonly faultsMet: number;
  books(): Books;
  state(): EngineState;
  nowMs(): number;
  /** Time passes at Stripe and for the product, which does its jobs meanwhile. */
  pass(ms: number): Promise<void>;
  runJobs(): Promise<void>;
  /** The jobs of a minute run, and are killed in the middle of them. */
  crash(afterMs: number): Promise<void>;
  /** The operator imports a deal with a partner. */
  offerDeal(email: string, tier: number): Promise<void>;
  /** Does something while a fault waits for it; starts the product again if that has ended it. */
  during<T>(fault: Fault | undefined, act: () => Promise<T>): Promise<{ result: T | undefined; met: boolean }>;
  /** Mails since the last call. */
  takeMails(): Promise<Mail[]>;
  /** Delivers what was held: each once or twice, in any order; or drops it. */
  deliver(how: { twice: boolean; dropped: boolean; random: () => number }): Promise<void>;
  raisePrices(dollars: number): Promise<void>;
  close(): Promise<void>;
}

/** The lease of a killed process has expired by then (10 s), on a busy machine too. */
const outboxLeaseMs = 30_000;

const isWrite = (method: string, path: string) => method !== 'GET' && !path.endsWith('/create_preview');

const faultKinds = {
  unreachable: 'unreachable',
  lost: 'lost',
  error: 'error',
  'kept-error': 'kept-error',
  'rate-limit': 'rate-limit',
  'kill before': 'unreachable',
  'kill after': 'lost',
} as const;

const shuffle = (random: () => number) => (events: StripeEvent[]) =>
  events
    .map((event) => ({ event, at: random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ event }) => event);

/** The next time at which a day of the year comes, at ten o'clock: the product's clock never runs backwards. */
function nextTime(fromMs: number, month: number, day: number): number {
  for (let year = new Date(fromMs).getUTCFullYear(); ; year += 1) {
    const at = Date.UTC(year, month - 1, day, 10);
    if (at > fromMs && new Date(at).getUTCDate() === day) return at;
  }
}

export async function openWorld(
  shop: Shop,
  { market, beginsAt, ...place }: Place & { market: Market; beginsAt?: { month: number; day: number } | undefined },
): Promise<World> {
  const { variables, owners, remove } = await shop.begin(market, place);
  const { engine, webhooks } = shop.stripe;
  webhooks.drop();
  shop.stripe.tell(shop.url);
  if (beginsAt) engine.advance(nextTime(engine.nowMs(), beginsAt.month, beginsAt.day) - engine.nowMs());
  webhooks.mode = 'prompt';
  const mails: Mail[] = [];
  const movedMs = () => engine.nowMs() - Date.now();
  /** All processes of the product. */
  async function start(): Promise<ProductProcess[]> {
    const started: ProductProcess[] = [];
    shop.front.ports = [];
    for (let at = 0; at < place.processes; at += 1) {
      const port = await freePort();
      const own = { ...variables, PORT: String(port) };
      const order = { movedMs: movedMs(), variables: own, isFirst: at === 0 };
      started.push(await shop.products.begin(order, (mail) => mails.push(mail)));
      shop.front.ports.push(port);
    }
    return started;
  }
  let products = await start();
  let turn = 0;
  /** Jobs run in one process at a time. */
  function worker(): ProductProcess {
    turn += 1;
    const product = products[turn % products.length];
    if (!product) throw new Error('no product runs');
    return product;
  }
  const kill = () => Promise.all(products.map((product) => product.kill()));

  async function restart(): Promise<void> {
    await kill();
    products = await start();
  }

  async function runJobs(): Promise<void> {
    await worker().runJobs();
    await webhooks.idle();
  }

  /** Members whose request for deletion is two weeks old. */
  async function eraseWhoLeft(): Promise<void> {
    const due = world.members.filter(
      ({ ledger: { leftAtMs = Number.POSITIVE_INFINITY, isErased } }) =>
        !isErased && leftAtMs + erasedAfterMs <= engine.nowMs(),
    );
    if (due.length === 0) return;
    // One of them has the lease of the job.
    const emails = due.map(({ email }) => email);
    await Promise.all(products.map((product) => product.erase(emails)));
    for (const { ledger } of due) ledger.isErased = true;
    await runJobs();
  }

  /** The customers with their address, also while the product could not write it. */
  function state(): EngineState {
    const snapshot = engine.snapshot() as EngineState;
    const objects = snapshot.objects.map((one) => {
      const owner = one.object === 'customer' && owners.get(one.metadata?.foyer_user ?? '');
      return owner && !one.deleted ? { ...one, email: owner } : one;
    });
    return { ...snapshot, objects };
  }

  let met = 0;
  const errorsBefore = shop.errors();

  const world: World = {
    shop,
    market,
    variables,
    members: members.map((email) => ({
      email,
      visitor: createVisitor(shop.url, email),
      ledger: createLedger(email, engine.nowMs()),
    })),
    kills: 0,
    hasDropped: false,
    waitingFault: undefined,
    get faultsMet() {
      return met + shop.errors() - errorsBefore;
    },
    books: () => readBooks(state().objects),
    state,
    nowMs: () => engine.nowMs(),
    async pass(ms) {
      // What has failed in an act is tried again by the jobs of the next minutes.
      const soon = [2 * minuteMs, 10 * minuteMs];
      for (let left = ms, step = 0; left > 0; left -= step) {
        step = Math.min(left, soon.shift() ?? (left > longMs ? 5 * dayMs : dayMs));
        engine.advance(step);
        await Promise.all(products.map((product) => product.setClock(movedMs())));
        await webhooks.idle();
        await runJobs();
        await eraseWhoLeft();
      }
    },
    runJobs,
    async crash(afterMs) {
      const jobs = worker()
        .runJobs()
        .catch(() => {});
      await sleep(afterMs);
      world.kills += 1;
      await restart();
      await jobs;
    },
    async offerDeal(email, tier) {
      const file = join(variables.DATA_DIR ?? '', 'deals.csv');
      await writeFile(file, `email,tier\n${email},${tier}\n`);
      const done = await shop.foyer(variables, 'partner-deal', 'import', file);
      if (done.code !== 0) throw new Error(`foyer partner-deal import: ${done.out}${done.err}`);
    },
    async during(own, act) {
      const fault = own ?? world.waitingFault;
      let [writes, isOver, isMet, isKilled] = [0, false, false, false];
      const end = () => {
        [isMet, isKilled] = [true, true];
        met += 1;
        void kill();
      };
      const timer = fault?.kind === 'kill soon' ? setTimeout(end, fault.n) : undefined;
      if (fault && fault.kind !== 'kill soon') {
        shop.stripe.fault(faultKinds[fault.kind], (method, path) => {
          if (isOver || !isWrite(method, path)) return false;
          writes += 1;
          if (writes !== fault.n) return false;
          if (fault.kind.startsWith('kill')) end();
          else [isMet, met] = [true, met + 1];
          return true;
        });
      }
      const result = await act().catch((error: unknown) => {
        if (!isMet) throw error;
        return undefined;
      });
      isOver = true;
      clearTimeout(timer);
      const waits = fault && !isMet && fault.kind !== 'kill soon';
      world.waitingFault = waits ? { ...fault, n: Math.min(fault.n, 2) } : undefined;
      if (isKilled) {
        world.kills += 1;
        await restart();
      }
      if (webhooks.mode === 'prompt') await webhooks.idle();
      return { result, met: isMet };
    },
    async takeMails() {
      // Only one process has the lease of the outbox: another one delivers nothing until that has expired. A mail that
      // came after the clock has moved would be judged by later announcements.
      const giveUpAt = performance.now() + outboxLeaseMs;
      let left = 0;
      do {
        if (left > 0) await sleep(100);
        for (const product of products) left = await product.deliverMails();
      } while (left > 0 && performance.now() < giveUpAt);
      if (left > 0) throw new Error(`${left} messages were not delivered`);
      return mails.splice(0);
    },
    async deliver({ twice, dropped, random }) {
      if (dropped) webhooks.drop();
      else await webhooks.deliver({ order: shuffle(random), twice });
      webhooks.mode = 'prompt';
      await webhooks.idle();
    },
    async raisePrices(dollars) {
      await writeFile(variables.PLANS_FILE ?? '', catalogueFile(market, dollars));
      const synced = await shop.foyer(variables, 'plans', 'sync');
      if (synced.code !== 0) throw new Error(`foyer plans sync: ${synced.out}`);
      // The operator restarts the servers, as the documentation says.
      await restart();
    },
    async close() {
      webhooks.mode = 'held';
      webhooks.drop();
      await kill();
      await remove();
    },
  };
  return world;
}
