import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StripeEvent } from '../../sandbox/stripe/index.ts';
import { type Currency, catalogueFile } from './catalogue.ts';
import type { EngineState } from './forecast.ts';
import { createLedger, type Ledger } from './ledger.ts';
import type { Mail, ProductProcess } from './product-process.ts';
import { members, type Shop } from './shop.ts';
import { type Books, readBooks } from './stripe-books.ts';
import { createVisitor, type Visitor } from './visitor.ts';

export const hourMs = 60 * 60_000;
export const dayMs = 24 * hourMs;

/** A fault at one request of the product to Stripe; with `kill`, the product ends at that moment. */
export interface Fault {
  kind: 'unreachable' | 'lost' | 'error' | 'kept-error' | 'rate-limit' | 'kill before' | 'kill after';
  /** Which request that changes something. */
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
  currency: Currency;
  variables: Record<string, string>;
  members: Member[];
  kills: number;
  /** Events were lost: only a comparison with Stripe finds what they said. */
  hasDropped: boolean;
  /** A fault that no request has met yet: it waits for the next act. */
  waitingFault: Fault | undefined;
  faultsMet: number;
  books(): Books;
  state(): EngineState;
  nowMs(): number;
  /** Time passes at Stripe and for the product, which does its jobs meanwhile. */
  pass(ms: number): Promise<void>;
  runJobs(): Promise<void>;
  /** Does something while a fault waits for it; starts the product again if that has ended it. */
  during<T>(fault: Fault | undefined, act: () => Promise<T>): Promise<{ result: T | undefined; met: boolean }>;
  /** Mails since the last call. */
  takeMails(): Promise<Mail[]>;
  /** Delivers what was held: each once or twice, in any order; or drops it. */
  deliver(how: { twice: boolean; dropped: boolean; random: () => number }): Promise<void>;
  raisePrices(dollars: number): Promise<void>;
  close(): Promise<void>;
}

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
  { currency, beginsAt }: { currency: Currency; beginsAt?: { month: number; day: number } | undefined },
): Promise<World> {
  const { variables } = await shop.begin(currency);
  const { engine, webhooks } = shop.stripe;
  webhooks.drop();
  shop.stripe.tell(shop.url);
  if (beginsAt) engine.advance(nextTime(engine.nowMs(), beginsAt.month, beginsAt.day) - engine.nowMs());
  webhooks.mode = 'prompt';
  const mails: Mail[] = [];
  const movedMs = () => engine.nowMs() - Date.now();
  const start = () => shop.products.begin({ movedMs: movedMs(), variables }, (mail) => mails.push(mail));
  let product: ProductProcess = await start();

  async function runJobs(): Promise<void> {
    await product.runJobs();
    await webhooks.idle();
  }

  const world: World = {
    shop,
    currency,
    variables,
    members: members.map((email) => ({
      email,
      visitor: createVisitor(shop.url, email),
      ledger: createLedger(email, engine.nowMs()),
    })),
    kills: 0,
    hasDropped: false,
    waitingFault: undefined,
    faultsMet: 0,
    books: () => readBooks((engine.snapshot() as EngineState).objects),
    state: () => engine.snapshot() as EngineState,
    nowMs: () => engine.nowMs(),
    async pass(ms) {
      for (let left = ms; left > 0; left -= dayMs) {
        engine.advance(Math.min(left, dayMs));
        await product.setClock(movedMs());
        await webhooks.idle();
        await runJobs();
      }
    },
    runJobs,
    async during(own, act) {
      const fault = own ?? world.waitingFault;
      let [writes, isOver, met] = [0, false, false];
      if (fault) {
        shop.stripe.fault(faultKinds[fault.kind], (method, path) => {
          if (isOver || !isWrite(method, path)) return false;
          writes += 1;
          if (writes !== fault.n) return false;
          met = true;
          world.faultsMet += 1;
          if (fault.kind.startsWith('kill')) void product.kill();
          return true;
        });
      }
      const result = await act().catch((error: unknown) => {
        if (!met) throw error;
        return undefined;
      });
      isOver = true;
      world.waitingFault = fault && !met ? { ...fault, n: Math.min(fault.n, 2) } : undefined;
      if (met && fault?.kind.startsWith('kill')) {
        world.kills += 1;
        // The process may live for a moment after the signal.
        while (product.isRunning()) await sleep(5);
        product = await start();
      }
      if (webhooks.mode === 'prompt') await webhooks.idle();
      return { result, met };
    },
    async takeMails() {
      await product.deliverMails();
      return mails.splice(0);
    },
    async deliver({ twice, dropped, random }) {
      if (dropped) webhooks.drop();
      else await webhooks.deliver({ order: shuffle(random), twice });
      webhooks.mode = 'prompt';
      await webhooks.idle();
    },
    async raisePrices(dollars) {
      await writeFile(variables.PLANS_FILE ?? '', catalogueFile(currency, dollars));
      const synced = await shop.foyer(variables, 'plans', 'sync');
      if (synced.code !== 0) throw new Error(`foyer plans sync: ${synced.out}`);
      // The operator restarts the servers, as the documentation says.
      await product.kill();
      product = await start();
    },
    async close() {
      webhooks.mode = 'held';
      webhooks.drop();
      await product.kill();
    },
  };
  return world;
}
