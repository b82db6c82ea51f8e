import { createEngine } from '../../sandbox/stripe/engine/index.ts';
import {
  accountOf,
  dayOf,
  type Invoice,
  isLive,
  isRenewal,
  isResumption,
  readBooks,
  resumesAt,
  type StoredThing,
  saleOf,
} from './stripe-books.ts';

/** The state of the stand-in's objects, as its engine stores it. */
export interface EngineState {
  objects: StoredThing[];
}

/** The charge that Stripe makes next if the member does nothing: its amount and its day. */
export type Forecast =
  | {
      kind: 'charge';
      cents: number;
      day: string;
      /** The plan that it pays. */
      planId: string | undefined;
      /** The first charge on or after a day; undefined: there is none in the next periods. */
      findChargeFrom(day: string): { cents: number; day: string } | undefined;
    }
  | { kind: 'none'; endsOn: string | null };

const hourMs = 60 * 60_000;
/** Renewals are drafts for an hour. */
const patienceMs = 3 * hourMs;
/** A renewal may follow a trial, a pause or a period that is free. */
const maxPeriods = 4;

const toCharge = ({ amount_due: cents, created }: Invoice) => ({ cents, day: dayOf(created) });

/** What happens at Stripe to the customer with this address while the product is away: in a copy of the stand-in. */
export function forecast(state: EngineState, email: string, nowMs: number): Forecast {
  const engine = createEngine({
    now: () => nowMs,
    draftsRenewals: true,
    origin: 'http://127.0.0.1',
    onEvent: () => {},
  });
  const objects = state.objects.filter(({ object }) => object !== 'event');
  engine.restore({ ...state, objects, offsetMs: 0 });
  const read = () => {
    const books = readBooks((engine.snapshot() as EngineState).objects);
    return { books, ...accountOf(books, email) };
  };
  const before = new Set(read().invoices.map(({ id }) => id));
  /** Lets periods pass until a new renewal is this one. */
  const findRenewal = (isWanted: (invoice: Invoice) => boolean): Invoice | undefined => {
    for (let periods = 0; periods < maxPeriods; periods += 1) {
      const { books, subscriptions } = read();
      const live = subscriptions.find(isLive);
      const periodEnd = live?.items.data[0]?.current_period_end;
      const end = live?.status === 'paused' ? resumesAt(books, live) : periodEnd;
      if (end === undefined) return undefined;
      engine.advance(Math.max(end * 1_000 - engine.nowMs(), 0) + patienceMs);
      const after = read();
      const isCharge = (one: Invoice) => isRenewal(one) || isResumption(after.books, one);
      const renewal = after.invoices.find((one) => !before.has(one.id) && isCharge(one) && isWanted(one));
      if (renewal) return renewal;
    }
    return undefined;
  };
  const first = findRenewal(({ total }) => total > 0);
  if (first) {
    const findChargeFrom = (day: string) => {
      const later =
        [first].find(({ created }) => dayOf(created) >= day) ?? findRenewal(({ created }) => dayOf(created) >= day);
      return later && toCharge(later);
    };
    const { planId } = saleOf(read().books, first) ?? {};
    return { kind: 'charge', ...toCharge(first), planId, findChargeFrom };
  }
  const ended = read().subscriptions.flatMap(({ ended_at }) => ended_at ?? []);
  return { kind: 'none', endsOn: ended.length === 0 ? null : dayOf(Math.max(...ended)) };
}
