import type Stripe from 'stripe';
import type { UserId } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import { toPeriod } from '../catalogue/catalogue.ts';
import type { BillingDeps } from '../deps.ts';
import { addBillingTask } from '../jobs/task-store.ts';
import { carryOutAtOnce } from '../jobs/tasks.ts';
import { previewKeptPrice, toNextCharge } from '../stripe/next-charge.ts';
import { callStripe } from '../stripe/stripe-client.ts';
import { findSchedule, pauseKey } from '../stripe/stripe-objects.ts';
import type { PauseRequest } from './coming-acts.ts';
import { isPaused, type Membership, type NextCharge, toLaterAmounts } from './membership.ts';
import { type OfferedPause, type PauseService, type ResumeResult, toPause, type WantedPause } from './pause-rules.ts';
import { isPausable, resumption } from './schedule-pause.ts';
import { readScheduled } from './scheduled-change.ts';
import { syncMember } from './sync-from-stripe.ts';

/** The pauses that the user can choose, each with the charge at its end; []: none. @throws {StripeUnavailableError} */
async function quotePauses(deps: BillingDeps, userId: UserId): Promise<OfferedPause[]> {
  const membership = await syncMember(deps, userId);
  if (!membership || !(await isPausable(deps, membership))) return [];
  const offers = await Promise.all(deps.catalogue.pauseMonths.map((months) => toOffer(deps, membership, months)));
  return offers.flatMap((offer) => offer ?? []);
}

async function toOffer(deps: BillingDeps, membership: Membership, months: number): Promise<OfferedPause | undefined> {
  const { periodEnd: beginsAt } = membership;
  if (beginsAt === null) return undefined;
  const { resumesAt } = toPause(beginsAt, months);
  const next = await previewKeptPrice(deps, membership, resumesAt);
  return next && { months, beginsAt, resumesAt, next };
}

/** Schedules the pause that the page has offered; the caller holds the user's lock. @throws {StripeUnavailableError} */
async function pausePlan(
  deps: BillingDeps,
  { id }: User,
  { months, announced }: WantedPause,
): Promise<'paused' | 'noted' | 'no-change' | 'changed'> {
  const { database, now } = deps;
  const membership = await syncMember(deps, id);
  if (!membership || !(await isPausable(deps, membership))) return 'no-change';
  const isOffered = deps.catalogue.pauseMonths.includes(months);
  const offer = isOffered ? await toOffer(deps, membership, months) : undefined;
  if (!offer || toAnnouncedPause(offer) !== announced) return 'changed';
  const request: PauseRequest = toPause(offer.beginsAt, months);
  const task = await database.transaction((trx) =>
    addBillingTask(
      trx,
      { kind: 'pause', userId: id, customerId: membership.customerId, detail: JSON.stringify(request) },
      now(),
    ),
  );
  return (await carryOutAtOnce(deps, { ...task, userId: id })) ? 'paused' : 'noted';
}

/** The announced days of a pause, and the charge at its end: a text that is only compared. */
export const toAnnouncedPause = ({ beginsAt, resumesAt, next }: OfferedPause): string =>
  `${beginsAt}/${resumesAt}/${toLaterAmounts(next)}`;

const nowParams = (): Stripe.SubscriptionScheduleUpdateParams.PauseSchedule[] => [
  { key: pauseKey, resume: { resume_at: { type: 'now' }, settings: resumption } },
];

/** The schedule of a subscription that its user has paused. @throws {StripeUnavailableError} */
async function findPausedSchedule(deps: BillingDeps, membership: Membership): Promise<string | undefined> {
  if (!membership.pause || !isPaused(membership) || membership.unpaid) return undefined;
  return findSchedule(await readScheduled(deps, membership.subscriptionId))?.id;
}

async function previewResumption(deps: BillingDeps, membership: Membership, schedule: string): Promise<NextCharge> {
  const { customerId, subscriptionId, price } = membership;
  const customer = customerId === null ? {} : { customer: customerId };
  const ask = (params: Stripe.InvoiceCreatePreviewParams) =>
    callStripe(deps.stripe, (client) => client.invoices.createPreview({ ...customer, ...params }));
  const invoice = await ask({ schedule, schedule_details: { pause_schedules: nowParams() } });
  const subscription = subscriptionId === null ? {} : { subscription: subscriptionId };
  const askWhole = () => ask({ ...subscription, preview_mode: 'recurring', discounts: '' });
  return toNextCharge(invoice, membership, { at: deps.now(), period: price && toPeriod(price), askWhole });
}

/** The charge if the pause ends now; undefined: it has not begun. @throws {StripeUnavailableError} */
async function quoteResumption(deps: BillingDeps, userId: UserId): Promise<NextCharge | undefined> {
  const membership = await syncMember(deps, userId);
  const schedule = membership && (await findPausedSchedule(deps, membership));
  return schedule === undefined ? undefined : previewResumption(deps, membership as Membership, schedule);
}

/**
 * Ends a pause that has begun: a whole period is charged, in one call, which ends no pause twice.
 * @param announced the amounts that the page has named
 * @throws {StripeUnavailableError}
 */
export async function resumeNow(
  deps: BillingDeps,
  membership: Membership,
  announced: string | undefined,
): Promise<ResumeResult> {
  const schedule = await findPausedSchedule(deps, membership);
  if (schedule === undefined) return 'no-change';
  if (toLaterAmounts(await previewResumption(deps, membership, schedule)) !== announced) return 'changed';
  await callStripe(deps.stripe, (client) =>
    client.subscriptionSchedules.update(schedule, { pause_schedules: nowParams() }),
  );
  const after = await syncMember(deps, membership.userId);
  return after?.unpaid ? 'unpaid' : 'resumed';
}

/** How the module reads for a user within their limit, and acts alone for a user. */
interface Turns {
  readBy<T>(userId: UserId, read: () => Promise<T>): Promise<T>;
  alone<T>(user: Pick<User, 'id'>, act: () => Promise<T>): Promise<T>;
}

export const createPauses = (deps: BillingDeps, { readBy, alone }: Turns): PauseService => ({
  quoteResumption: (userId) => readBy(userId, () => quoteResumption(deps, userId)),
  quotePauses: (userId) => readBy(userId, () => quotePauses(deps, userId)),
  pause: (user, choice) => alone(user, () => pausePlan(deps, user, choice)),
});
