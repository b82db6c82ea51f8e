import type { ActionProblem } from '../../../views/account/account-action.tsx';
import { CancelMembershipPage, ResumeMembershipPage } from '../../../views/account/cancel-membership-pages.tsx';
import type { PlanStatusView } from '../../../views/account/membership-view.ts';
import { membershipPath } from '../../../views/account/tabs.ts';
import { formatAmount } from '../../../views/format.ts';
import { type PendingRenewal, runOrRerender, StripeUnavailableError } from '../../billing/index.ts';
import type { AddPage, RequestContext } from '../../http/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import type { AccountDeps } from '../deps.ts';
import { membershipPageUrl } from '../notices.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { toCreditText, toMembershipView } from './membership-view.ts';

const cancelPath = `${membershipPath}/cancel`;
const resumePath = `${membershipPath}/resume`;

/** Shown on the action's page: Stripe has not answered. */
export interface StripeUnavailableState {
  status: 503;
  problem: ActionProblem;
}

/**
 * Runs an action that needs Stripe; if Stripe is unavailable, renders the action's page again. `word` is the
 * specification's text for that action (section 8).
 * @returns undefined if the page was rendered
 */
export function runWithStripe<R>(
  r: RequestContext,
  {
    word,
    rerender,
  }: {
    word: 'checkout.unavailable.quote' | 'checkout.unavailable.confirm' | 'checkout.unavailable.update';
    rerender: (unavailable: StripeUnavailableState) => unknown;
  },
  work: () => Promise<R>,
): Promise<{ value: R } | undefined> {
  const repeat = () => rerender({ status: 503, problem: { title: r.t(word), text: r.t('checkout.unavailable.text') } });
  return runOrRerender(r, { act: `settings: ${word}`, rerender: repeat }, work);
}

/** The stored membership, and its status for the user. */
async function loadStatus(r: UserRequest, deps: AccountDeps) {
  const membership = await deps.membership.getMembership(r.user.id);
  return { membership, planStatus: toMembershipView(r, deps, { membership }).status };
}

type Ending = Extract<PlanStatusView, { kind: 'renews' | 'changes' | 'unpaid' | 'paused' }>;

const isEnding = (status: PlanStatusView): status is Ending =>
  ['renews', 'changes', 'unpaid', 'paused'].includes(status.kind);

/** The renewal that is being charged. The page can also be used while Stripe is unavailable. */
async function findRenewal(r: UserRequest, deps: AccountDeps): Promise<PendingRenewal | undefined> {
  try {
    return await deps.membership.pendingRenewal(r.user.id);
  } catch (error) {
    if (!(error instanceof StripeUnavailableError)) throw error;
    r.log.warn({ err: error, act: 'settings: cancel' }, 'Stripe does not answer');
    return undefined;
  }
}

/** The page says until when the plan stays. */
async function renderCancel(r: UserRequest, deps: AccountDeps, view: Partial<StripeUnavailableState>): Promise<void> {
  const state = r.viewAt(cancelPath, view);
  if (!state) return;
  const { membership, planStatus } = await loadStatus(r, deps);
  if (!isEnding(planStatus)) return r.redirect(membershipPageUrl('nothing'));
  const { kind } = planStatus;
  const renewal = await findRenewal(r, deps);
  r.render(
    CancelMembershipPage,
    {
      action: cancelPath,
      problem: state.problem,
      plan: planStatus.plan.name,
      until: planStatus.kind === 'paused' ? null : planStatus.at,
      atOnce: kind === 'unpaid' || kind === 'paused' ? kind : undefined,
      to: planStatus.kind === 'changes' ? planStatus.to : undefined,
      // The plan without the subscription.
      after: deps.membership.catalogue.byId(membership?.basePlanId)?.name,
      withdrawHref: (await deps.membership.findWithdrawal(r.user.id)) && `${membershipPath}/withdraw`,
      credit: membership && toCreditText(r, membership, deps.membership.catalogue.currency),
      renewal: renewal && {
        amount: formatAmount(r.lang, renewal.amountCents, { currency: renewal.currency }),
        until: renewal.periodEnd,
        isHeld: renewal.changeableAt === null,
      },
    },
    { title: 'membership.cancel.title', address: cancelPath, status: state.status },
  );
}

async function submitCancel(r: UserRequest, deps: AccountDeps): Promise<void> {
  const rerender = (unavailable: StripeUnavailableState) => renderCancel(r, deps, unavailable);
  const cancel = () => deps.membership.cancel(r.user, { atOnce: r.field('when') === 'now' });
  const answered = await runWithStripe(r, { word: 'checkout.unavailable.confirm', rerender }, cancel);
  if (!answered) return;
  if (answered.value === 'no-change') return r.redirect(membershipPageUrl('nothing'));
  if (answered.value === 'noted') return r.redirect(membershipPageUrl('cancel-noted'));
  const after = await deps.membership.getMembership(r.user.id);
  r.redirect(membershipPageUrl(after?.cancelAtPeriodEnd ? 'cancelled' : 'ended'));
}

/** The amount of the renewal, if it goes on. The page can also be used while Stripe is unavailable. */
async function findKeptAmount(r: UserRequest, deps: AccountDeps): Promise<string | undefined> {
  try {
    const next = await deps.membership.renewalIfKept(r.user.id);
    return next && formatAmount(r.lang, next.amountCents, { currency: next.currency });
  } catch (error) {
    if (!(error instanceof StripeUnavailableError)) throw error;
    r.log.warn({ err: error, act: 'settings: resume' }, 'Stripe does not answer');
    return undefined;
  }
}

/** The page that cancels a scheduled end or change. */
async function renderResume(r: UserRequest, deps: AccountDeps, view: Partial<StripeUnavailableState>): Promise<void> {
  const state = r.viewAt(resumePath, view);
  if (!state) return;
  const { planStatus } = await loadStatus(r, deps);
  if (planStatus.kind !== 'ends' && planStatus.kind !== 'changes') return r.redirect(membershipPageUrl('nothing'));
  const { plan, at } = planStatus;
  const to = planStatus.kind === 'changes' ? planStatus.to : undefined;
  const title = planStatus.kind === 'ends' ? 'membership.resume.title' : 'membership.resume.keepTitle';
  r.render(
    ResumeMembershipPage,
    { action: resumePath, problem: state.problem, plan: plan.name, at, to, amount: await findKeptAmount(r, deps) },
    { title, address: resumePath, status: state.status },
  );
}

async function submitResume(r: UserRequest, deps: AccountDeps): Promise<void> {
  const rerender = (unavailable: StripeUnavailableState) => renderResume(r, deps, unavailable);
  const resume = () => deps.membership.resume(r.user);
  const answered = await runWithStripe(r, { word: 'checkout.unavailable.confirm', rerender }, resume);
  if (!answered) return;
  const noticeNames = { resumed: 'resumed', noted: 'resume-noted', 'no-change': 'nothing' } as const;
  r.redirect(membershipPageUrl(noticeNames[answered.value]));
}

/** Cancelling and resuming: both at the period's end, so that a click never loses anything. None without plans on sale. */
export function membershipActRoutes(add: AddPage<AccountDeps>, { membership }: Pick<AccountDeps, 'membership'>): void {
  if (!membership.sold) return;
  add(cancelPath, {
    get: requireRecentAuth((r, deps: AccountDeps) => renderCancel(r, deps, {})),
    post: requireRecentAuth(submitCancel),
  });
  add(resumePath, {
    get: requireRecentAuth((r, deps: AccountDeps) => renderResume(r, deps, {})),
    post: requireRecentAuth(submitResume),
  });
}
