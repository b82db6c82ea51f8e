import { loadPlans } from '../../config/plans.ts';
import {
  type BillingModule,
  createCatalogue,
  subscriptionOnDeletion,
  toAnnouncedPause,
  toLaterAmounts,
} from '../../server/billing/index.ts';
import type { Database } from '../../server/store/index.ts';
import type { User } from '../../server/users/index.ts';
import { from } from './steps.ts';

export type Act = (member: { billing: BillingModule; user: User; database: Database }) => Promise<unknown>;

export const catalogue = createCatalogue({ ...loadPlans(), periods: 'days' });
export const planOf = (code: string) => {
  const plan = catalogue.byCode(code);
  if (!plan) throw new Error(`the catalogue has no ${code}`);
  return plan;
};

export async function buy({ billing, user }: Parameters<Act>[0], code: string, promotion?: string): Promise<unknown> {
  await billing.choose(user, planOf(code));
  // With a pause nothing is sold: there is no amount to announce, or to take something off.
  const isPaused = (await billing.getMembership(user.id))?.pause != null;
  if (promotion !== undefined && !isPaused) await billing.applyPromotion(user, promotion, from);
  const open = await billing.purchase(user.id);
  if (!open) throw new Error('nothing was chosen');
  const { dueCents } = isPaused ? { dueCents: 0 } : await billing.quote(user, open.plan, open.promotion);
  return billing.confirm(user, { planId: open.plan.id, dueCents }, from);
}

/** Presses the button of Starter's page, with everything that it names: free days, where it begins with some. */
export async function tryStarter({ billing, user }: Parameters<Act>[0]): Promise<unknown> {
  await billing.choose(user, planOf('m-99'));
  const open = await billing.purchase(user.id);
  if (!open) throw new Error('nothing was chosen');
  const isPaused = (await billing.getMembership(user.id))?.pause != null;
  if (isPaused) return billing.confirm(user, { planId: open.plan.id, dueCents: 0 }, from);
  const { dueCents, next, trial } = await billing.quoteOnPage(user, open.plan, open.promotion);
  const trialEnd = trial && 'endsAt' in trial ? trial.endsAt : null;
  const announced = { planId: open.plan.id, dueCents, laterCents: toLaterAmounts(next), trialEnd };
  return billing.confirm(user, announced, from);
}

/** Takes the first pause that is offered; without one nothing is asked. */
async function pauseForMonth({ billing, user }: Parameters<Act>[0]): Promise<unknown> {
  const [offer] = await billing.quotePauses(user.id);
  return offer ? billing.pause(user, { months: offer.months, announced: toAnnouncedPause(offer) }) : 'no-change';
}

/** The actions of a member on a plan; each is one press of a button. */
export const acts: Record<string, { act: Act; isWrittenDown: boolean }> = {
  cancel: { act: ({ billing, user }) => billing.cancel(user), isWrittenDown: true },
  resume: { act: ({ billing, user }) => billing.resume(user), isWrittenDown: true },
  'take the free plan': { act: ({ billing, user }) => billing.takeFree(user, planOf('m-free')), isWrittenDown: true },
  'change to Growth': { act: (member) => buy(member, 'm-499'), isWrittenDown: false },
  'keep Scale': { act: (member) => buy(member, 'm-899'), isWrittenDown: false },
  'upgrade to Scale, annual': { act: (member) => buy(member, 'y-8000'), isWrittenDown: false },
  'upgrade with a code': { act: (member) => buy(member, 'y-8000', 'SWEEP10'), isWrittenDown: false },
  'try Starter': { act: tryStarter, isWrittenDown: false },
  pause: { act: pauseForMonth, isWrittenDown: true },
  leave: { act: (member) => leave(member, 'period-end'), isWrittenDown: true },
  'leave at once': { act: (member) => leave(member, 'at-once'), isWrittenDown: true },
};

/** Requests the deletion of the account; the minute job carries out its task. */
async function leave(
  { billing, user, database }: Parameters<Act>[0],
  wish: 'period-end' | 'at-once',
): Promise<unknown> {
  const leaving = subscriptionOnDeletion(database, billing.catalogue);
  const noted = await database.transaction((trx) =>
    leaving.cancelOnDeletion(trx, user.id, { timing: wish, nowMs: billing.deps.now() }),
  );
  await billing.work();
  return noted;
}
