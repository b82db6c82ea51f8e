import type { UserId } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import { type Plan, planAfterYear } from '../catalogue/catalogue.ts';
import { readAnnouncedPrices } from '../catalogue/prices.ts';
import type { BillingDeps } from '../deps.ts';
import { type AnnouncedPrice, addBillingTask, type LaterChange, listTasks } from '../jobs/task-store.ts';
import { carryOutAtOnce } from '../jobs/tasks.ts';
import { findOpenPurchase } from '../purchase/purchase-store.ts';
import { StripeUnavailableError } from '../results.ts';
import { findPendingRenewal } from './changeable-subscription.ts';
import { findKeptRenewal } from './kept-renewal.ts';
import { continuingTasks, isPaused, type Membership, notedIn, toLaterAmounts } from './membership.ts';
import { findRenewingMembership } from './membership-state.ts';
import { findMembership } from './membership-store.ts';
import { resumeNow } from './pause.ts';
import type { ResumeResult } from './pause-rules.ts';
import { isToCome } from './schedule-pause.ts';
import { syncMember } from './sync-from-stripe.ts';

// Actions on a membership that are accepted while Stripe is unavailable: each is stored before its first call to
// Stripe.

/** The state at Stripe; while Stripe is unavailable, the last one that was read. */
export async function readOrStored(
  deps: BillingDeps,
  userId: UserId,
): Promise<{ membership: Membership | undefined; isAway: boolean }> {
  try {
    return { membership: await syncMember(deps, userId), isAway: false };
  } catch (error) {
    if (!(error instanceof StripeUnavailableError)) throw error;
    deps.log.warn({ err: error, member: userId }, 'Stripe does not answer: stored data used');
    return { membership: await findMembership(deps.database.db, userId), isAway: true };
  }
}

/** @param isAway Stripe is known to be unavailable: the minute job does it, so that the caller does not wait again. */
async function noteAndDo(
  deps: BillingDeps,
  membership: Membership,
  act: { kind: 'cancel-later' | 'cancel-now' | 'resume'; isAway: boolean; detail?: string | null },
): Promise<boolean> {
  const { kind, isAway, detail = null } = act;
  const { userId, customerId } = membership;
  const task = await deps.database.transaction((trx) =>
    addBillingTask(trx, { kind, userId, customerId, detail }, deps.now()),
  );
  return !isAway && carryOutAtOnce(deps, { ...task, userId, read: membership });
}

/**
 * At the period's end; at once if the last renewal is unpaid, or the subscription is paused. The caller holds the
 * user's lock.
 */
export async function cancel(
  deps: BillingDeps,
  { id }: User,
  { atOnce } = { atOnce: false },
): Promise<'cancelled' | 'noted' | 'no-change'> {
  const { database, catalogue, now } = deps;
  const { membership, isAway } = await readOrStored(deps, id);
  if (!membership) return 'no-change';
  const running = findRenewingMembership(membership, catalogue, now());
  // A scheduled change ends with the subscription.
  const ends = running !== undefined || membership.nextPlanId !== null || isPaused(membership);
  // A payment that completes later would reactivate it.
  const charging = (await findOpenPurchase(database.db, id))?.state === 'charging';
  const waiting = await listTasks(database.db, id);
  const resumes = notedIn(waiting) === 'resume' || waiting.some(({ kind }) => continuingTasks.has(kind));
  if (!ends && !charging && !resumes) return 'no-change';
  // Only while a renewal is being charged: a paid period always runs out.
  const endsNow = atOnce && !isAway && (await findPendingRenewal(deps, membership)) !== undefined;
  const kind = endsNow ? 'cancel-now' : 'cancel-later';
  if (!(await noteAndDo(deps, membership, { kind, isAway }))) return 'noted';
  if (ends || resumes) return 'cancelled';
  return (await findMembership(database.db, id))?.cancelAtPeriodEnd ? 'cancelled' : 'no-change';
}

/** The prices of a later plan; another number of seats has the price that the user has. @throws {StripeUnavailableError} */
async function readLaterPrices(
  { prices, catalogue }: Pick<BillingDeps, 'prices' | 'catalogue'>,
  { price, pricedPlanId }: Membership,
  plan: Plan,
): Promise<AnnouncedPrice[]> {
  const { id: planId, chosenSeats: seats } = plan;
  if (pricedPlanId === planId && price) return [{ planId, priceId: price.id, seats }];
  const [first, ...more] = await readAnnouncedPrices(prices, [plan, planAfterYear(catalogue, plan)]);
  return first ? [{ ...first, ...(seats !== undefined && { seats }) }, ...more] : more;
}

/**
 * Another paid plan, or fewer seats, from the period's end on; the caller holds the user's lock. While Stripe is unavailable it is
 * tried again every minute, at the announced price.
 * @returns when (milliseconds since the epoch), and whether it is only noted
 * @throws {StripeUnavailableError} if the price is not known: nothing is stored then
 */
export async function changeLater(
  deps: BillingDeps,
  membership: Membership,
  plan: Plan,
): Promise<{ at: number; isNoted: boolean }> {
  const { database, now } = deps;
  const { userId, customerId, periodEnd } = membership;
  const change: LaterChange = { prices: await readLaterPrices(deps, membership, plan), byUser: true };
  const detail = JSON.stringify(change);
  const task = await database.transaction((trx) =>
    addBillingTask(trx, { kind: 'change-later', userId, customerId, planId: plan.id, detail }, now()),
  );
  const isDone = await carryOutAtOnce(deps, { ...task, userId }, { keepRefused: false });
  return { at: (await findMembership(database.db, userId))?.periodEnd ?? periodEnd ?? now(), isNoted: !isDone };
}

/**
 * Cancels a scheduled end, change or pause; ends a pause that has begun, which charges the announced amount. The caller holds the user's lock.
 * @param announced the later amounts that the page has named; undefined: it has named none
 * @throws {StripeUnavailableError} if they cannot be compared
 */
export async function resume(deps: BillingDeps, { id }: User, announced: string | undefined): Promise<ResumeResult> {
  const { database } = deps;
  const { membership, isAway } = await readOrStored(deps, id);
  if (!membership?.subscriptionId) return 'no-change';
  if (membership.pause && isPaused(membership)) return isAway ? 'no-change' : resumeNow(deps, membership, announced);
  const toCome = isToCome(membership, deps.now());
  const waiting = await listTasks(database.db, id);
  const isNoted =
    notedIn(waiting) === 'cancel' || waiting.some(({ kind }) => kind === 'change-later' || kind === 'pause');
  if (!toCome && !isNoted) return 'no-change';
  const renewal = announced === undefined || isAway ? undefined : await findKeptRenewal(deps, id);
  if (renewal && toLaterAmounts(renewal) !== announced) return 'changed';
  const prices = await readFollowingPrices(deps, membership);
  const change: LaterChange = { prices, byUser: true, ...(announced !== undefined && { laterAmounts: announced }) };
  const detail = JSON.stringify(change);
  return (await noteAndDo(deps, membership, { kind: 'resume', isAway, detail })) ? 'resumed' : 'noted';
}

/** The price of the month after a year, which the page has announced; []: no other plan follows, or it named none. */
async function readFollowingPrices(deps: BillingDeps, { pricedPlanId }: Membership): Promise<LaterChange['prices']> {
  const following = planAfterYear(deps.catalogue, deps.catalogue.byId(pricedPlanId));
  if (!following) return [];
  try {
    return await readAnnouncedPrices(deps.prices, [following]);
  } catch (error) {
    if (!(error instanceof StripeUnavailableError)) throw error;
    return [];
  }
}
