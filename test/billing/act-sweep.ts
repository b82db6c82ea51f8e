import type { KyselyPlugin } from 'kysely';
import { createEngine } from '../../sandbox/stripe/engine/index.ts';
import {
  type BillingModule,
  createBillingModule,
  diffWithStripe,
  type StripeClient,
  syncPlans,
} from '../../server/billing/index.ts';
import type { Database } from '../../server/store/index.ts';
import { startFoyer } from '../support/foyer.ts';
import type { Backend } from '../support/stores.ts';
import { startStripe } from '../support/stripe.ts';
import { type Act, buy, catalogue } from './plan-actions.ts';
import { plansWithTrials } from './plan-trial-steps.ts';
import { cards, dayMs, from } from './steps.ts';

const minuteMs = 60_000;

/**
 * The n-th request that changes something at Stripe does not arrive, is answered 500 and not carried out, is carried out and
 * its answer lost; or the process ends at that moment, the request not carried out or carried out.
 */
export const faults = ['unreachable', 'error', 'lost', 'killed before', 'killed after'] as const;
export type Fault = (typeof faults)[number];

/** What Stripe does if nothing else happens, read from a copy of the stand-in whose clock goes on alone. */
export interface Future {
  /** The next charge; null: none. */
  next: { cents: number; at: string } | null;
  /** When the subscription ends; null: it goes on. */
  endsAt: string | null;
}

export interface Outcome extends Future {
  /** What was charged since the saved moment, in cents. */
  charged: number[];
}

export interface Run {
  /** Of the act, as it answers the member; undefined: it failed. */
  answered: unknown;
  /** Right after the act. */
  atOnce: Outcome;
  /** After a day in which only the jobs ran, and one comparison with Stripe. */
  dayLater: Outcome;
  /** The differences that the comparison did not repair. */
  left: string[];
  /** How many requests the act made that change something at Stripe. */
  writes: number;
}

/** A process of Foyer that can be ended between two steps: then nothing of it reaches the database or Stripe any more. */
interface Process {
  billing: BillingModule;
  database: Database;
  end(): void;
}

interface PaidInvoice {
  id: string;
  status: string;
  amount_paid: number;
  status_transitions: { paid_at: number | null };
}

const tables = ['memberships', 'purchases', 'orders', 'billingTasks', 'toldMembers', 'stripeEvents'] as const;

const hourMs = 60 * minuteMs;

/**
 * A clock that `set` turns back. The product rounds the time of a proration to the hour, so runs that are compared begin at
 * the same time of an hour, however long the earlier ones took.
 */
function createClock() {
  let ahead = 0;
  const now = () => Date.now() + ahead;
  const set = (ms: number) => {
    ahead = ms - Date.now();
  };
  set(Math.floor(Date.now() / hourMs) * hourMs + 5 * minuteMs);
  return { now, set };
}

export async function startSweep(backend: Backend) {
  const clock = createClock();
  const stripe = await startStripe({ now: clock.now });
  const foyer = await startFoyer(
    backend,
    {
      ...stripe.environment(),
      PLANS_FILE: plansWithTrials({ pause: { months: [1] } }),
      CARD_LIMIT_MEMBER: '100000',
      CARD_LIMIT_ADDRESS: '100000',
      CARD_LIMIT_OVERALL: '100000',
    },
    { billingNow: () => stripe.engine.nowMs() },
  );
  const library = stripe.client();
  // The library repeats a request when a connection ends; in tests it does so without a delay.
  Object.assign(library, { getInitialNetworkRetryDelay: () => 0.001, getMaxNetworkRetryDelay: () => 0.001 });
  await syncPlans(async () => library, catalogue);
  await library.coupons.create({ id: 'tenth', percent_off: 10, duration: 'once' });
  await library.promotionCodes.create({ code: 'SWEEP10', promotion: { type: 'coupon', coupon: 'tenth' } });
  await library.coupons.create({ id: 'large', amount_off: 20_000, currency: 'usd', duration: 'forever' });
  await library.promotionCodes.create({ code: 'LARGE', promotion: { type: 'coupon', coupon: 'large' } });
  const { database } = foyer.deps;
  const user = await foyer.addUser();

  function startProcess(): Process {
    let ended = false;
    const refuse = () => {
      if (ended) throw new Error('this process has ended');
    };
    const plugin: KyselyPlugin = {
      transformQuery: ({ node }) => {
        refuse();
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    const own: Database = {
      ...database,
      db: database.db.withPlugin(plugin),
      transaction: (work) => database.transaction((trx) => work(trx.withPlugin(plugin) as typeof trx)),
    };
    const client: StripeClient = async () => {
      refuse();
      return library;
    };
    const { prices: _, ...settings } = foyer.app.membership.deps;
    return {
      billing: createBillingModule({ ...settings, database: own, stripe: client }),
      database: own,
      end: () => {
        ended = true;
      },
    };
  }

  async function saveCard(billing: BillingModule, number: string = cards.visa): Promise<void> {
    const begun = await billing.beginCard(user, from);
    if (begun.kind !== 'begun') throw new Error(`no card could be begun: ${begun.kind}`);
    const card = { number, exp_month: 12, exp_year: 2040, cvc: '123' };
    const method = { type: 'card', card, billing_details: { address: { postal_code: '10115' } } };
    const confirmation = { client_secret: begun.clientSecret, payment_method_data: method };
    const { setupIntentId: id } = begun;
    stripe.engine.call({
      method: 'POST',
      path: `/v1/setup_intents/${id}/confirm`,
      params: confirmation,
      as: 'publishable',
    });
    if (stripe.engine.find(id)?.status === 'requires_action') stripe.engine.authenticate(id, 'succeed');
    const saved = await billing.keepCard(user, id);
    if (saved.kind !== 'saved') throw new Error(`the card was not saved: ${saved.kind}`);
  }

  async function save() {
    const rows = await Promise.all(
      tables.map(async (table) => ({ table, rows: await database.db.selectFrom(table).selectAll().execute() })),
    );
    const { planId, trialUntil } = await database.db
      .selectFrom('users')
      .select(['planId', 'trialUntil'])
      .where('id', '=', user.id)
      .executeTakeFirstOrThrow();
    return {
      stripe: stripe.snapshot(),
      rows,
      member: { planId, trialUntil },
      nowMs: stripe.engine.nowMs(),
      clockMs: clock.now(),
    };
  }
  type Saved = Awaited<ReturnType<typeof save>>;

  async function restore(saved: Saved): Promise<void> {
    await foyer.deps.kv.delete(`billing:reads:${user.id}`);
    clock.set(saved.clockMs);
    stripe.restore(structuredClone(saved.stripe));
    await database.transaction(async (trx) => {
      for (const { table, rows } of saved.rows) {
        await trx.deleteFrom(table).execute();
        if (rows.length > 0)
          await trx
            .insertInto(table)
            .values(rows as never)
            .execute();
      }
      await trx.updateTable('users').set(saved.member).where('id', '=', user.id).execute();
      // A process that ended may hold the lock of the member, which expires only after ten seconds.
      await trx.deleteFrom('leases').execute();
    });
  }

  const day = (seconds: number) => new Date(seconds * 1_000).toISOString();

  /** All that is asked of the stand-in: its own objects, and what it does when its clock goes on without Foyer. */
  function outcomeSince(saved: Saved): Outcome {
    const engine = createEngine({ now: clock.now, origin: stripe.url, onEvent: () => {} });
    const { engine: objects } = stripe.snapshot() as { engine: unknown };
    engine.restore(objects);
    const nowSeconds = Math.floor(stripe.engine.nowMs() / 1_000);
    // Stripe lists the newest first, and knows seconds: of two in one second the older stays first.
    const paid = () => {
      const { data } = engine.call({ method: 'GET', path: '/v1/invoices' }) as { data: PaidInvoice[] };
      return data
        .filter(({ status, amount_paid: cents }) => status === 'paid' && cents > 0)
        .map(({ id, amount_paid: cents, status_transitions: { paid_at: at } }) => ({ id, cents, at: at ?? 0 }))
        .toReversed()
        .toSorted((one, other) => one.at - other.at);
    };
    const before = paid();
    engine.advance(400 * dayMs);
    const next = paid().find(({ id }) => !before.some((one) => one.id === id));
    const subscriptions = engine.call({ method: 'GET', path: '/v1/subscriptions', params: { status: 'all' } }) as {
      data: { status: string; ended_at: number | null; items: { data: { price: { unit_amount: number } }[] } }[];
    };
    const [newest] = subscriptions.data;
    const endsAt = next === undefined && newest?.ended_at ? day(Math.max(newest.ended_at, nowSeconds)) : null;
    const since = before.filter(({ at }) => at * 1_000 >= saved.nowMs - 999);
    return {
      charged: since.map(({ cents }) => cents),
      next: next ? { cents: next.cents, at: day(next.at).slice(0, 10) } : null,
      endsAt: endsAt?.slice(0, 10) ?? null,
    };
  }

  /** The member does nothing; the jobs run, and one comparison with Stripe. */
  async function aDayPasses(): Promise<string[]> {
    const { billing } = startProcess();
    await database.db.deleteFrom('leases').execute();
    for (const minutes of [1, 2, 4, 33, 60, 90, 240, 480, 530]) {
      stripe.engine.advance(minutes * minuteMs);
      await billing.work();
    }
    await billing.reconcile({ pauseMs: 0 });
    await billing.work();
    const { left } = await diffWithStripe(billing.deps, { pauseMs: 0 });
    return left.map(({ kind, detail }) => `${kind}: ${detail}`);
  }

  /** @param n which request that changes something meets the fault */
  async function run(saved: Saved, act: Act | undefined, trouble?: { fault: Fault; n: number }): Promise<Run> {
    await restore(saved);
    const process = startProcess();
    let [writes, isOver] = [0, false];
    // Previews are POSTs that change nothing.
    const isWrite = (method: string, path: string) => method !== 'GET' && !path.endsWith('/create_preview');
    const kinds = { unreachable: 'unreachable', error: 'error', lost: 'lost' } as const;
    const kind =
      trouble &&
      (trouble.fault === 'killed before'
        ? 'unreachable'
        : trouble.fault === 'killed after'
          ? 'lost'
          : kinds[trouble.fault]);
    stripe.fault(kind ?? 'error', (method, path) => {
      if (isOver || !isWrite(method, path)) return false;
      writes += 1;
      if (writes !== trouble?.n) return false;
      if (trouble.fault.startsWith('killed')) process.end();
      return true;
    });
    const answered = await act?.({ billing: process.billing, user, database: process.database }).catch(() => undefined);
    isOver = true;
    const atOnce = outcomeSince(saved);
    const left = await aDayPasses();
    return { answered, atOnce, dayLater: outcomeSince(saved), left, writes };
  }

  return {
    stripe,
    library,
    user,
    database,
    billing: startProcess().billing,
    saveCard,
    buy: (code: string, promotion?: string) =>
      buy({ billing: startProcess().billing, user, database }, code, promotion),
    save,
    restore,
    run,
    async close() {
      await foyer.close();
      await stripe.close();
    },
  };
}

export type Sweep = Awaited<ReturnType<typeof startSweep>>;
export type Saved = Awaited<ReturnType<Sweep['save']>>;
