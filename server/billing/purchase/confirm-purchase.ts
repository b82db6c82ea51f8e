import { dayMs } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import { consumeCharge } from '../cards/card-entry.ts';
import { findPlan, isNext, needsRequestToBegin, type Plan } from '../catalogue/catalogue.ts';
import type { BillingDeps } from '../deps.ts';
import { findDetailsState } from '../details/save-details.ts';
import { settleNoted } from '../jobs/tasks.ts';
import { findOrderByInvoice } from '../orders/order-store.ts';
import type { DisplayedQuote, PendingRenewal, PurchaseResult, PurchaseView } from '../results.ts';
import { changeLater } from '../subscription/acts.ts';
import {
  type ChangeableSubscription,
  findRenewalToWaitFor,
  getChangeableSubscription,
  readChangeKind,
} from '../subscription/changeable-subscription.ts';
import { isDebit, toLaterAmounts } from '../subscription/membership.ts';
import { findMembership } from '../subscription/membership-store.ts';
import { scheduleChange } from '../subscription/scheduled-change.ts';
import { syncMember } from '../subscription/sync-from-stripe.ts';
import type { Charge } from './charge.ts';
import { isOtherLater, type PurchaseRefusal, type PurchaseState, transition } from './purchase-state.ts';
import { changePurchase, findLastPaid, findOpenPurchase, type StoredPurchase, toPurchase } from './purchase-store.ts';
import { type Priced, quoteNow } from './quote.ts';
import { quotePlan } from './quote-plan.ts';
import { finishRun, giveUpCharge, runCharge, type SettleResult, settleCharge, startRun } from './run-charge.ts';
import { readChargeFacts, readLater, toCharge } from './stripe-charge.ts';
import { claimPlanTrial, endOfTrial, findAnnouncedEnd, findTrialOffer } from './trial-offer.ts';
import { quoteTrial } from './trial-quote.ts';

/** One press of the button. */
export interface Confirmation {
  user: User;
  announced: DisplayedQuote;
  ip: string;
  /** As it was read in this act. */
  live?: ChangeableSubscription | undefined;
}

/** A purchase of which nothing is asked of Stripe yet. */
interface OpenPurchase {
  open: StoredPurchase;
  purchase: PurchaseView;
}

/** Tests for the plan, with its seats, that the page has announced. */
const isAnnounced = ({ id, chosenSeats }: Plan, { planId, seats }: Pick<DisplayedQuote, 'planId' | 'seats'>): boolean =>
  id === planId && (chosenSeats === undefined || seats === undefined || seats === chosenSeats);

/** No purchase is open: often a second click after the first has succeeded. */
async function toIdleResult(
  { database, catalogue, now }: BillingDeps,
  user: User,
  announced: Pick<DisplayedQuote, 'planId' | 'seats'> | undefined,
): Promise<PurchaseResult> {
  const last = await findLastPaid(database.db, user.id);
  const plan = findPlan(catalogue, last?.planId, last?.seats);
  if (!last || !plan || (announced && !isAnnounced(plan, announced))) return { kind: 'no-change', plan: undefined };
  const membership = await findMembership(database.db, user.id);
  if (membership && isNext(membership, plan)) return { kind: 'scheduled', plan, at: membership.periodEnd ?? now() };
  const order = last.invoiceId === null ? undefined : await findOrderByInvoice(database.db, last.invoiceId);
  return { kind: 'paid', plan, order };
}

/** Whom an answer is for, and what their page has named. */
type Answered = Pick<Confirmation, 'user'> & Partial<Pick<Confirmation, 'announced'>>;

async function toChanged(
  deps: BillingDeps,
  { user, announced }: Answered,
  { plan, promotion }: PurchaseView,
): Promise<PurchaseResult> {
  const withTrial = announced?.trialEnd !== undefined;
  // A card that was just saved decides on the free days.
  if (announced?.trialEnd != null) await syncMember(deps, user.id);
  return { kind: 'changed', quote: await quotePlan(deps, user, { plan, promotion, withTrial }) };
}

async function toResult(deps: BillingDeps, by: Answered, settled: SettleResult): Promise<PurchaseResult> {
  if (settled.kind !== 'reopened') return settled;
  const purchase = toPurchase(deps, await findOpenPurchase(deps.database.db, by.user.id));
  return purchase ? toChanged(deps, by, purchase) : { kind: 'no-change', plan: undefined };
}

async function toRefusal(
  deps: BillingDeps,
  { why, ...by }: Answered & { why: PurchaseRefusal },
  { purchase, renewal }: { purchase: PurchaseView; renewal: PendingRenewal | undefined },
): Promise<PurchaseResult> {
  switch (why) {
    case 'changed':
      return toChanged(deps, by, purchase);
    case 'renewing':
      if (!renewal) throw new Error('a renewal that is being charged is not known');
      return { kind: 'renewing', renewal };
    case 'paused':
    case 'unpaid-first':
    case 'debit-waiting':
    case 'no-billing-details':
    case 'no-card':
      return { kind: why };
  }
}

/**
 * The amount of a purchase now, with the free days that its page has named, or without any.
 * @returns undefined: the plan begins with other free days than the page has named
 * @throws {StripeUnavailableError}
 */
async function priceAsAnnounced(
  deps: BillingDeps,
  { user, announced: { trialEnd } }: Pick<Confirmation, 'user' | 'announced'>,
  { live, purchase }: { live: ChangeableSubscription; purchase: PurchaseView },
): Promise<Priced | undefined> {
  const { plan, promotion } = purchase;
  // Callers of the JSON API want none.
  if (trialEnd === undefined || plan.trialDays === null) return trialEnd ? undefined : quoteNow(deps, live, purchase);
  const days = (await findTrialOffer(deps, user, { membership: live.membership, plan }))?.days;
  const announced = days === undefined ? undefined : findAnnouncedEnd(days, trialEnd, deps.now());
  const endsAt = announced ?? (days === undefined ? undefined : endOfTrial(days, deps.now()));
  const trial = endsAt === undefined ? undefined : await quoteTrial(deps, live, { plan, promotion, endsAt });
  if (trial) return announced === undefined ? undefined : trial;
  return trialEnd === null ? quoteNow(deps, live, purchase) : undefined;
}

/** Compares the amount, writes the request down, and sends it. */
async function payPurchase(
  deps: BillingDeps,
  { user, announced, ip }: Confirmation,
  { open, purchase, live }: OpenPurchase & { live: ChangeableSubscription },
): Promise<PurchaseResult> {
  const priced = await priceAsAnnounced(deps, { user, announced }, { live, purchase });
  if (!priced) return toChanged(deps, { user, announced }, purchase);
  const later = await readLater(deps, priced, { announced, subscription: live.subscription });
  const isAsked = needsRequestToBegin(deps.catalogue, priced.due);
  const wording = isAsked ? announced.beginsAtOnce : undefined;
  const requestToBegin = wording === undefined ? undefined : { at: deps.now(), wording };
  const charge = toCharge(deps, live, { ...priced, ...later, requestToBegin });
  const { dueCents: announcedCents, laterCents } = announced;
  const next = transition({ kind: 'approved' }, { kind: 'priced', charge, announcedCents, laterCents });
  const present = { ...purchase, promotion: priced.due.promotion };
  if (next.kind === 'refused') return toChanged(deps, { user, announced }, present);
  if (isAsked && !requestToBegin) return { kind: 'no-request-to-begin' };
  const { card } = live.membership;
  const cardId = card?.paymentMethodId;
  const decision = await consumeCharge(deps, user, { ip, paymentMethodId: cardId });
  if (!decision.allowed) return { kind: 'too-many', retryAfterMs: decision.retryAfterMs };
  const isTrial = charge.planTrialEnd !== undefined;
  if (isTrial && !(card && (await claimPlanTrial(deps, user, card))))
    return toChanged(deps, { user, announced }, present);
  const won = await changePurchase(deps, open, { state: 'charging', nextAttempt: true, charge: next.charge });
  const charging = await findOpenPurchase(deps.database.db, user.id);
  if (!won || !charging) return toIdleResult(deps, user, announced);
  const run = await startRun(deps, charging, live.subscription);
  return toResult(deps, { user, announced }, await finishRun(deps, run, await runCharge(deps, run, { cardId })));
}

/** Compares the amount at the period's end, and schedules the change. */
async function schedulePurchase(
  deps: BillingDeps,
  { user, announced: { laterCents: announced } }: Confirmation,
  {
    open,
    purchase: { plan, promotion },
    live: { membership },
    scheduling,
  }: OpenPurchase & { live: ChangeableSubscription; scheduling: Extract<PurchaseState, { kind: 'scheduling' }> },
): Promise<PurchaseResult> {
  if (announced !== undefined) {
    const quote = await quotePlan(deps, user, { plan, promotion });
    const event = { kind: 'later-priced', laterCents: toLaterAmounts(quote.next), announced } as const;
    if (transition(scheduling, event).kind === 'refused') return { kind: 'changed', quote };
  }
  const changed =
    scheduling.follows === 'chosen'
      ? await changeLater(deps, membership, plan)
      : { at: await scheduleChange(deps, membership, null), isNoted: false };
  const done = transition(scheduling, { kind: 'scheduled' });
  await changePurchase(deps, open, { state: done.kind });
  return { kind: 'scheduled', plan, ...changed };
}

const lacksBillingDetails = async ({ database, catalogue }: BillingDeps, { id }: User): Promise<boolean> =>
  catalogue.needsBillingDetails && (await findDetailsState({ db: database.db, catalogue }, id)).isMissing;

/** Nothing is asked of Stripe yet. */
async function startPurchase(
  deps: BillingDeps,
  confirmation: Confirmation,
  { open, purchase }: OpenPurchase,
): Promise<PurchaseResult> {
  const { user, announced } = confirmation;
  const { plan } = purchase;
  const changed = await settleNoted(deps, user.id);
  const live = (!changed && confirmation.live) || (await getChangeableSubscription(deps, user));
  const { membership } = live;
  const change = await readChangeKind(deps, membership, plan);
  const renewal = await findRenewalToWaitFor(deps, membership, plan);
  const lacksDetails = await lacksBillingDetails(deps, user);
  const renewing = renewal !== undefined;
  const facts = { membership, change, announcedCents: announced.dueCents, renewing, lacksDetails };
  const next = transition({ kind: 'open' }, { kind: 'confirmed', ...facts });
  switch (next.kind) {
    case 'refused':
      return toRefusal(deps, { user, announced, why: next.why }, { purchase, renewal });
    case 'abandoned':
      await changePurchase(deps, open, { state: next.kind });
      return { kind: 'no-change', plan };
    case 'scheduling':
      return schedulePurchase(deps, confirmation, { open, purchase, live, scheduling: next });
    case 'approved':
      return payPurchase(deps, confirmation, { open, purchase, live });
  }
}

/** Tests for a first charge on another day than the page has named. */
const isOtherTrial = ({ planTrialEnd: end }: Charge, { trialEnd: announced }: DisplayedQuote): boolean =>
  Math.floor(((end ?? 0) * 1_000) / dayMs) !== Math.floor((announced ?? 0) / dayMs);

const settled: ReadonlySet<string> = new Set(['paid', 'action-required', 'processing', 'ending']);

/** Tests for a state in which nothing more is asked of Stripe for the user. */
const isSettled = ({ kind }: { kind: string }): boolean => settled.has(kind);

/** The request is stored: the user returns from the bank, or tries again. */
async function continuePurchase(
  deps: BillingDeps,
  confirmation: Confirmation,
  open: StoredPurchase,
): Promise<PurchaseResult> {
  const { user, announced, ip, live } = confirmation;
  const started = await startRun(deps, open, live?.subscription);
  const { charge } = started.purchase;
  const run = { ...started, facts: await readChargeFacts(deps, started.subscription, charge) };
  const state = await runCharge(deps, run);
  if (isSettled(state)) {
    return toResult(deps, confirmation, await finishRun(deps, run, state));
  }
  if (state.kind === 'open') {
    await finishRun(deps, run, state);
    // The amount may have changed by now.
    return confirmPurchase(deps, { user, announced, ip });
  }
  const isOtherAmount =
    charge.announcedCents !== announced.dueCents || isOtherLater(charge.laterCents, announced.laterCents);
  if (isOtherAmount || isOtherTrial(charge, announced)) {
    await giveUpCharge(deps, open);
    return toResult(deps, confirmation, { kind: 'reopened' });
  }
  const card = live?.membership.card ?? (await findMembership(deps.database.db, user.id))?.card;
  // A debit cannot pay a change that waits, nor a card one that does not.
  if (isDebit(card ?? null) !== (charge.byDebit === true)) {
    const left = await giveUpCharge(deps, open);
    return left === 'off' ? confirmPurchase(deps, { user, announced, ip }) : getPurchaseResult(deps, user);
  }
  const cardId = card?.paymentMethodId;
  const decision = await consumeCharge(deps, user, { ip, paymentMethodId: cardId });
  if (!decision.allowed) return { kind: 'too-many', retryAfterMs: decision.retryAfterMs };
  return toResult(deps, { user, announced }, await finishRun(deps, run, await runCharge(deps, run, { cardId })));
}

/**
 * Pays for the chosen plan and changes to it, or continues a started payment; charges exactly the announced amount or
 * nothing. It can be repeated safely after any loss (an answer, a tab, this process).
 * @throws {StripeUnavailableError}
 */
export async function confirmPurchase(deps: BillingDeps, confirmation: Confirmation): Promise<PurchaseResult> {
  const { user, announced } = confirmation;
  const open = await findOpenPurchase(deps.database.db, user.id);
  const purchase = toPurchase(deps, open);
  if (!open || !purchase) return toIdleResult(deps, user, announced);
  if (!isAnnounced(purchase.plan, announced)) return toChanged(deps, confirmation, purchase);
  return open.state === 'charging'
    ? continuePurchase(deps, confirmation, open)
    : startPurchase(deps, confirmation, { open, purchase });
}

/** The state of a payment that waited for the user; charges nothing. @throws {StripeUnavailableError} */
export async function getPurchaseResult(deps: BillingDeps, user: User): Promise<PurchaseResult> {
  const open = await findOpenPurchase(deps.database.db, user.id);
  if (!open) return toIdleResult(deps, user, undefined);
  const settled = open.state === 'charging' ? await settleCharge(deps, open) : ({ kind: 'reopened' } as const);
  return toResult(deps, { user }, settled);
}
