import type { DraftLine } from './invoice-lines.ts';
import type { Subscription, SubscriptionItem } from './objects.ts';
import type { Reader } from './params.ts';
import { addPeriods, type Recurring, sameInterval } from './periods.ts';
import { creditLine, periodLine, remainderLine, trialLine } from './proration.ts';
import type { State } from './state.ts';
import { trialEndAfterNow } from './subscription-create.ts';
import { calculateCost, getItem, type ItemChange, readItem, setItem, setPeriod } from './subscription-shape.ts';
import { invalid, unknownToStandIn } from './types.ts';

/** The part of a call about prices and times: for an update, and for its preview. */
export interface Change {
  item?: ItemChange;
  trialEnd?: 'now' | number;
  prorate: 'none' | 'create_prorations' | 'always_invoice';
  /** Start of prorations, in seconds. */
  at: number;
  anchorNow: boolean;
}

/** Names of Change's parameters, the same in an update and in `subscription_details` of a preview. */
export const changeFields = ['items', 'trial_end', 'proration_behavior', 'proration_date', 'billing_cycle_anchor'];

/** @returns undefined without any of the `changeFields` */
export function readChange(state: State, subscription: Subscription, reader: Reader): Change | undefined {
  if (!changeFields.some((name) => reader.has(name))) return undefined;
  const item = getItem(subscription);
  const trialEnd = reader.text('trial_end');
  const at = reader.int('proration_date') ?? state.now();
  if (reader.has('proration_date') && (at < item.current_period_start || at > item.current_period_end)) {
    throw invalid('Cannot specify `proration_date` outside of the current period.', { param: 'proration_date' });
  }
  return {
    item: readItem(state, reader, item),
    ...(trialEnd !== undefined && {
      trialEnd: trialEnd === 'now' ? 'now' : trialEndAfterNow(state, reader.int('trial_end') ?? 0),
    }),
    prorate:
      reader.choice('proration_behavior', ['none', 'create_prorations', 'always_invoice']) ?? 'create_prorations',
    at,
    anchorNow: reader.object('billing_cycle_anchor', ['type'])?.choice('type', ['now', 'unchanged']) === 'now',
  };
}

/** The cost of a change. */
export interface Effect {
  /** Lines to be billed at once. */
  lines: DraftLine[];
  /** Whether there is an invoice at once, if only of 0. */
  invoices: boolean;
  /** Lines of the next invoice. */
  pending: DraftLine[];
  /** The basis of credits after this, if it changes without an invoice. */
  debit?: DraftLine;
}

/** A change of an item, before it is applied. */
interface ItemUpdate {
  change: Change;
  subscription: Subscription;
  item: SubscriptionItem;
  /** A copy of the item. */
  before: SubscriptionItem;
  target: ItemChange;
  recurring: Recurring;
  trialing: boolean;
  /** For the unused time of the item. */
  credits: DraftLine[];
}

function createItemUpdate(state: State, subscription: Subscription, change: Change): ItemUpdate {
  const item = getItem(subscription);
  const before = structuredClone(item);
  const target = change.item ?? { price: before.price, quantity: before.quantity };
  const trialing = subscription.status === 'trialing';
  return {
    change,
    subscription,
    item,
    before,
    target,
    recurring: target.price.recurring ?? { interval: 'month', interval_count: 1 },
    trialing,
    credits: trialing || change.prorate === 'none' ? [] : creditLine(state, before, change.at),
  };
}

const noInvoice = (): Effect => ({ lines: [], invoices: false, pending: [] });

function changePaused({ change, item, target }: ItemUpdate): Effect {
  if (change.trialEnd !== undefined || change.anchorNow) {
    throw unknownToStandIn('how the times of a paused subscription change: resume it');
  }
  setItem(item, target);
  return noInvoice();
}

function moveTrialEnd(state: State, update: ItemUpdate, trialEnd: number): Effect {
  const { subscription, item, before, target, trialing, credits } = update;
  const now = state.now();
  setItem(item, target);
  if (!trialing) subscription.trial_start = now;
  subscription.status = 'trialing';
  subscription.trial_end = trialEnd;
  subscription.billing_cycle_anchor = trialEnd;
  setPeriod(item, trialing ? before.current_period_start : now, trialEnd);
  // A new trial has its own invoice, of 0; a trial whose end changes has none.
  return trialing ? noInvoice() : { lines: [...credits, trialLine(state, item)], invoices: true, pending: [] };
}

function startsNewPeriod({ change, before, target, recurring, trialing }: ItemUpdate): boolean {
  const endsTrial = trialing && change.trialEnd === 'now';
  const otherInterval = !sameInterval(recurring, before.price.recurring ?? recurring);
  const startsToCost = calculateCost(before) === 0 && calculateCost(target) > 0;
  return endsTrial || change.anchorNow || (!trialing && (otherInterval || startsToCost));
}

function startNewPeriod(state: State, { subscription, item, target, ...update }: ItemUpdate): Effect {
  const now = state.now();
  setItem(item, target);
  if (update.trialing) subscription.trial_end = now;
  subscription.status = 'active';
  subscription.billing_cycle_anchor = now;
  setPeriod(item, now, addPeriods(now, update.recurring, 1));
  return { lines: [...update.credits, periodLine(state, item)], invoices: true, pending: [] };
}

function changeWithinPeriod(state: State, update: ItemUpdate): Effect {
  const { change, subscription, item, before, target, trialing } = update;
  const same = target.price.id === before.price.id && target.quantity === before.quantity;
  setItem(item, target);
  if (trialing || same || change.prorate === 'none') return noInvoice();
  const remainder = remainderLine(state, subscription, change.at);
  const lines = [...update.credits, remainder];
  return change.prorate === 'always_invoice'
    ? { lines, invoices: true, pending: [] }
    : { lines: [], invoices: false, pending: lines, debit: remainder };
}

/** Applies a change to the subscription and returns its cost. */
export function changeItem(state: State, subscription: Subscription, change: Change): Effect {
  const update = createItemUpdate(state, subscription, change);
  if (subscription.status === 'paused') return changePaused(update);
  if (typeof change.trialEnd === 'number') return moveTrialEnd(state, update, change.trialEnd);
  return startsNewPeriod(update) ? startNewPeriod(state, update) : changeWithinPeriod(state, update);
}
