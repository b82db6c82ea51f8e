import { randomBytes } from 'node:crypto';
import type * as Objects from './objects.ts';
import { type EngineOptions, missing, StandInError, type StripeEvent } from './types.ts';

/** Facts that Stripe does not expose. They are stored beside its objects, so that undo and storage are the same. */
export interface HiddenCard {
  id: string;
  object: 'hidden.card';
  number: string;
  /** Whether the bank has authenticated the customer when the card was saved. */
  authenticated: boolean;
}
/** The last billed part of a subscription's item: the basis of credits for unused time. */
export interface HiddenDebit {
  id: string;
  object: 'hidden.debit';
  cents: number;
  start: number;
  end: number;
  invoice: string | null;
  line: string;
}
/** Prorations that wait for the subscription's next invoice. */
export interface HiddenItem {
  id: string;
  object: 'hidden.item';
  subscription: string;
  line: Objects.InvoiceLine;
  invoiced: boolean;
}
/** A change that waits until its invoice is paid. */
export interface HiddenChange {
  id: string;
  object: 'hidden.change';
  subscription: string;
  invoice: string;
  /** The subscription after the change. */
  target: Partial<Objects.Subscription>;
  debits: HiddenDebit[];
  /** Pending prorations that the invoice bills: they are pending again when it is voided. */
  swept: string[];
  /** Discounts that take something off this invoice. */
  used: string[];
  /** A resumption that the first attempt to pay completes, paid or not. */
  onAttempt: boolean;
  kind: 'update' | 'resume';
  expiresAt: number;
}
/** The rule of a coupon at its redemption: deleting the coupon does not change it. */
export interface HiddenRule {
  id: string;
  object: 'hidden.rule';
  percentOff: number | null;
  amountOff: number | null;
  once: boolean;
  /** The products that it applies to; null for all. */
  products: string[] | null;
}
/** The record of a notification: the end of that trial, three days before. */
export interface HiddenNotice {
  id: string;
  object: 'hidden.told';
}

export interface Kinds {
  customer: Objects.Customer;
  product: Objects.Product;
  price: Objects.Price;
  coupon: Objects.Coupon;
  promotion_code: Objects.PromotionCode;
  discount: Objects.Discount;
  payment_method: Objects.PaymentMethod;
  token: Objects.Token;
  setup_intent: Objects.SetupIntent;
  payment_intent: Objects.PaymentIntent;
  subscription: Objects.Subscription;
  invoice: Objects.Invoice;
  invoice_payment: Objects.InvoicePayment;
  charge: Objects.Charge;
  dispute: Objects.Dispute;
  refund: Objects.Refund;
  event: StripeEvent;
  'hidden.card': HiddenCard;
  'hidden.debit': HiddenDebit;
  'hidden.item': HiddenItem;
  'hidden.change': HiddenChange;
  'hidden.rule': HiddenRule;
  'hidden.told': HiddenNotice;
}
export type Kind = keyof Kinds;
/** Objects before a transaction changed them; `was` is undefined for new ones. */
type Log = Map<string, { was: Any | undefined; place: number }>;
type Any = Kinds[Kind] | Objects.Deleted<'customer' | 'product' | 'coupon'>;

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** An id of Stripe's look: prefix, underscore, letters and digits. */
export const newId = (prefix: string, length = 24) =>
  `${prefix}_${[...randomBytes(length)].map((byte) => alphabet[byte % alphabet.length]).join('')}`;

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The earlier values of changed properties, nested as Stripe's previous_attributes are; lists are included as a whole.
 */
export function previousAttributes(before: Record<string, unknown>, after: Record<string, unknown>) {
  const previous: Record<string, unknown> = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [before[key], after[key]];
    if (JSON.stringify(was) === JSON.stringify(is)) continue;
    previous[key] = isPlain(was) && isPlain(is) ? previousAttributes(was, is) : (was ?? null);
  }
  return previous;
}

const keepEventsForSeconds = 30 * 86_400;
export type State = ReturnType<typeof createState>;

/** All objects by id in the order of their creation, with an undo log, a clock and events. */
export function createState(options: EngineOptions) {
  let objects = new Map<string, Any>();
  let lastPlace = 0;
  let places = new Map<string, number>();
  let offsetMs = 0;
  let rehearsals = 0;
  let atMs: number | undefined;
  const logs: Log[] = [];
  let waiting: StripeEvent[] = [];
  let committed = new Map<string, Record<string, unknown>>();

  const getPlace = (id: string) => places.get(id) ?? 0;
  const nowMs = () => atMs ?? options.now() + offsetMs;
  const now = () => Math.floor(nowMs() / 1_000);

  function remember(id: string) {
    const log = logs.at(-1);
    if (!log) throw new Error('the state is changed outside of a transaction');
    if (!log.has(id)) log.set(id, { was: structuredClone(objects.get(id)), place: getPlace(id) });
  }

  function undo(log: Log) {
    const moved = [...log].some(([id, { was, place }]) => was !== undefined && getPlace(id) !== place);
    for (const [id, { was, place }] of log) {
      if (was === undefined) {
        objects.delete(id);
        places.delete(id);
      } else {
        objects.set(id, was);
        places.set(id, place);
      }
    }
    // A restored object returns to its old place: lists are in the order of creation.
    if (moved) objects = new Map([...objects].sort(([a], [b]) => getPlace(a) - getPlace(b)));
  }

  function find<K extends Kind>(kind: K, id: string): Kinds[K] | undefined {
    const found = objects.get(id);
    return found && found.object === kind && !('deleted' in found) ? (found as Kinds[K]) : undefined;
  }

  function transaction<T>(work: () => T, keep: boolean): T {
    const outermost = logs.length === 0;
    const log: Log = new Map();
    logs.push(log);
    const [told0, events0] = [new Map(committed), waiting.length];
    let keeps = keep;
    try {
      return work();
    } catch (error) {
      keeps = keep && error instanceof StandInError && error.keeps;
      throw error;
    } finally {
      logs.pop();
      if (keeps) {
        for (const [id, was] of log) if (logs.at(-1)?.has(id) === false) logs.at(-1)?.set(id, was);
      } else {
        undo(log);
        committed = told0;
        waiting.length = events0;
      }
      if (outermost) {
        const happened = waiting;
        [waiting, committed] = [[], new Map()];
        for (const event of happened) options.onEvent(event);
      }
    }
  }

  const state = {
    origin: options.origin,
    nowMs,
    /** Seconds since the epoch. */
    now,
    /** Does something as if it were that time. */
    at<T>(ms: number, work: () => T): T {
      const before = atMs;
      atMs = ms;
      try {
        return work();
      } finally {
        atMs = before;
      }
    },
    move(ms: number) {
      offsetMs += ms;
    },
    find,
    get<K extends Kind>(kind: K, id: string, param?: string): Kinds[K] {
      const found = find(kind, id);
      if (!found) throw missing(kind.replaceAll('_', ' '), id, param);
      return found;
    },
    /** Any object that Stripe would show, including a deleted one. */
    findVisible(id: string) {
      const found = objects.get(id);
      return found && !found.object.startsWith('hidden.') ? (found as unknown as Record<string, unknown>) : undefined;
    },
    /** The object itself, for a change: its earlier state is stored for an undo. */
    edit<K extends Kind>(kind: K, id: string): Kinds[K] {
      const found = state.get(kind, id);
      remember(id);
      return found;
    },
    put<K extends Kind>(value: Kinds[K] & { object: K }): Kinds[K] {
      remember(value.id);
      if (!objects.has(value.id)) places.set(value.id, ++lastPlace);
      objects.set(value.id, value as Any);
      return value;
    },
    drop(id: string) {
      remember(id);
      objects.delete(id);
      places.delete(id);
    },
    markDeleted<K extends 'customer' | 'product' | 'coupon'>(kind: K, id: string): Objects.Deleted<K> {
      const gone: Objects.Deleted<K> = { id, object: kind, deleted: true };
      remember(id);
      objects.set(id, gone);
      return gone;
    },
    /** All of a kind, oldest first. */
    all<K extends Kind>(kind: K): Kinds[K][] {
      const found: Kinds[K][] = [];
      for (const each of objects.values()) {
        if (each.object === kind && !('deleted' in each)) found.push(each as Kinds[K]);
      }
      return found;
    },
    /** Executed completely or, if it fails, not at all. */
    perform: <T>(work: () => T): T => transaction(work, true),
    /** Executed and undone: only the result stays. */
    rehearse<T>(work: () => T): T {
      rehearsals += 1;
      try {
        return transaction(() => structuredClone(work()), false);
      } finally {
        rehearsals -= 1;
      }
    },
    /** In a rehearsal nothing is charged. */
    isRehearsal: () => rehearsals > 0,
    /** Emits an event. With `updated`, only for a real change, with the earlier values. */
    announce(type: string, about: { id: string; object: string }, how: 'event' | 'updated' = 'event') {
      const {
        confirmation_secret: _,
        payments: __,
        ...object
        // Events omit these, like answers without expand.
      } = structuredClone(about) as unknown as Record<string, unknown>;
      const before =
        committed.get(about.id) ?? (logs[0]?.get(about.id)?.was as unknown as Record<string, unknown> | undefined);
      const previous = how === 'updated' && before ? previousAttributes(before, object) : undefined;
      if (how === 'updated' || !before) committed.set(about.id, object);
      if (previous && Object.keys(previous).length === 0) return;
      const event: StripeEvent = {
        id: newId('evt'),
        object: 'event',
        api_version: '2026-10-28.endive',
        created: now(),
        data: { object, ...(previous && { previous_attributes: previous }) },
        livemode: false,
        pending_webhooks: 1,
        request: { id: null, idempotency_key: null },
        type,
      };
      state.put({ ...event, object: 'event' });
      waiting.push(state.get('event', event.id));
    },
    /** Deletes events after thirty days, as Stripe does. */
    forgetOldEvents() {
      for (const event of state.all('event')) {
        if (event.created >= now() - keepEventsForSeconds) return;
        state.drop(event.id);
      }
    },
    snapshot: () => structuredClone({ version: 1, offsetMs, objects: [...objects.values()] }),
    restore(snapshot: unknown) {
      const { version, ...stored } = snapshot as ReturnType<typeof state.snapshot>;
      if (version !== 1) throw new Error(`a snapshot of version ${version} is not known`);
      offsetMs = stored.offsetMs;
      objects = new Map(structuredClone(stored.objects).map((each: Any) => [each.id, each]));
      lastPlace = objects.size;
      places = new Map([...objects.keys()].map((id, index) => [id, index]));
    },
  };
  return state;
}
