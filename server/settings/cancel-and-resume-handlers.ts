import type { Request, RequestHandler, Response, Router } from 'express';
import { createElement } from 'react';
import type { ActionProblem } from '../../views/settings/account-action.tsx';
import { CancelMembershipPage, ResumeMembershipPage } from '../../views/settings/cancel-membership-pages.tsx';
import type { PlanStatusView } from '../../views/settings/membership-view.ts';
import { membershipPath } from '../../views/settings/tabs.ts';
import { runOrRerender } from '../checkout/index.ts';
import { methodNotAllowed } from '../http/index.ts';
import type { AccountDeps } from './deps.ts';
import { toMembershipView } from './membership-view.ts';
import { membershipPageUrl } from './notices.ts';
import { type MemberHandler, requireRecentAuth, type SignedInUser } from './require-recent-auth.ts';

export const cancelPath = `${membershipPath}/cancel`;
export const resumePath = `${membershipPath}/resume`;

/** Shown on the action's page: Stripe has not answered. */
export interface StripeUnavailableState {
  status: 503;
  problem: ActionProblem;
}

/**
 * Runs an action that needs Stripe; if Stripe is unavailable, renders the action's page again.
 * @param word of the specification for that action (section 8)
 * @returns undefined if the page was rendered
 */
export function runWithStripe<R>(
  { log }: Pick<AccountDeps, 'log'>,
  [req, res]: [Request, Response],
  word: 'checkout.unavailable.quote' | 'checkout.unavailable.confirm' | 'checkout.unavailable.update',
  repeated: (unavailable: StripeUnavailableState) => unknown,
  work: () => Promise<R>,
): Promise<{ value: R } | undefined> {
  const { t } = req;
  const rerender = () => repeated({ status: 503, problem: { title: t(word), text: t('checkout.unavailable.text') } });
  return runOrRerender({ log }, res, `settings: ${word}`, rerender, work);
}

type Ending = Extract<PlanStatusView, { kind: 'renews' | 'changes' | 'unpaid' | 'paused' }>;

const canEnd = (planStatus: PlanStatusView): planStatus is Ending =>
  ['renews', 'changes', 'unpaid', 'paused'].includes(planStatus.kind);

/** GET /settings/membership/cancel, and again after a failed POST: until when the plan stays. */
async function renderCancel(
  deps: AccountDeps,
  req: Request,
  res: Response,
  member: SignedInUser,
  input?: StripeUnavailableState,
) {
  const { membership, pages } = deps;
  const unavailable: Partial<StripeUnavailableState> | undefined = pages.shownAt(req, res, cancelPath, input ?? {});
  if (!unavailable) return;
  const currentMembership = await membership.getMembership(member.user.id);
  const shownIn = toMembershipView(deps, member, currentMembership);
  const { status: how } = shownIn(pages.context(req, res));
  if (!canEnd(how)) {
    return res.redirect(303, membershipPageUrl('nothing'));
  }
  pages.send(
    req,
    res,
    unavailable.status ?? 200,
    (ctx) => {
      const rerender = shownIn(ctx).status;
      if (!canEnd(rerender)) throw new Error('changed');
      const after = membership.catalogue.byId(currentMembership?.basePlanId);
      return createElement(CancelMembershipPage, {
        ctx,
        action: cancelPath,
        problem: unavailable.problem,
        plan: rerender.plan.name,
        until: rerender.kind === 'paused' ? null : rerender.at,
        atOnce: rerender.kind === 'unpaid' || rerender.kind === 'paused' ? rerender.kind : undefined,
        to: rerender.kind === 'changes' ? rerender.to : undefined,
        after: after?.name,
      });
    },
    { title: (ctx) => ctx.t('membership.cancel.title'), address: cancelPath },
  );
}

/** GET /settings/membership/resume: cancels a scheduled end or change. */
async function renderResume(
  deps: AccountDeps,
  req: Request,
  res: Response,
  member: SignedInUser,
  input?: StripeUnavailableState,
) {
  const { membership, pages } = deps;
  const unavailable: Partial<StripeUnavailableState> | undefined = pages.shownAt(req, res, resumePath, input ?? {});
  if (!unavailable) return;
  const currentMembership = await membership.getMembership(member.user.id);
  const shownIn = toMembershipView(deps, member, currentMembership);
  const { kind } = shownIn(pages.context(req, res)).status;
  if (kind !== 'ends' && kind !== 'changes') return res.redirect(303, membershipPageUrl('nothing'));
  pages.send(
    req,
    res,
    unavailable.status ?? 200,
    (ctx) => {
      const rerender = shownIn(ctx).status;
      if (rerender.kind !== 'ends' && rerender.kind !== 'changes') throw new Error('changed');
      return createElement(ResumeMembershipPage, {
        ctx,
        action: resumePath,
        problem: unavailable.problem,
        plan: rerender.plan.name,
        at: rerender.at,
        to: rerender.kind === 'changes' ? rerender.to : undefined,
      });
    },
    {
      title: (ctx) => ctx.t(kind === 'ends' ? 'membership.resume.title' : 'membership.resume.keepTitle'),
      address: resumePath,
    },
  );
}

function submitCancel(deps: AccountDeps): MemberHandler {
  return async (req, res, member) => {
    const repeated = (unavailable: StripeUnavailableState) => renderCancel(deps, req, res, member, unavailable);
    const cancel = () => deps.membership.cancel(member.user);
    const answered = await runWithStripe(deps, [req, res], 'checkout.unavailable.confirm', repeated, cancel);
    if (!answered) return;
    if (answered.value === 'no-change') return res.redirect(303, membershipPageUrl('nothing'));
    if (answered.value === 'noted') return res.redirect(303, membershipPageUrl('cancel-noted'));
    const after = await deps.membership.getMembership(member.user.id);
    res.redirect(303, membershipPageUrl(after?.cancelAtPeriodEnd ? 'cancelled' : 'ended'));
  };
}

function submitResume(deps: AccountDeps): MemberHandler {
  return async (req, res, member) => {
    const repeated = (unavailable: StripeUnavailableState) => renderResume(deps, req, res, member, unavailable);
    const resume = () => deps.membership.resume(member.user);
    const answered = await runWithStripe(deps, [req, res], 'checkout.unavailable.confirm', repeated, resume);
    if (!answered) return;
    const noticeNames = { resumed: 'resumed', noted: 'resume-noted', 'no-change': 'nothing' } as const;
    res.redirect(303, membershipPageUrl(noticeNames[answered.value]));
  };
}

/** Without plans on sale there is no action. */
export const onlyWithPlans =
  ({ membership }: Pick<AccountDeps, 'membership'>): RequestHandler =>
  (_req, _res, next) =>
    next(membership.sold ? undefined : 'router');

/** Cancelling and resuming: both at the period's end, so that a click never loses anything. */
export function membershipActRoutes(router: Router, deps: AccountDeps): void {
  const only = methodNotAllowed('GET', 'HEAD', 'POST');
  router
    .route(cancelPath)
    .all(onlyWithPlans(deps))
    .get(requireRecentAuth(deps, (req, res, member) => renderCancel(deps, req, res, member)))
    .post(requireRecentAuth(deps, submitCancel(deps)))
    .all(only);
  router
    .route(resumePath)
    .all(onlyWithPlans(deps))
    .get(requireRecentAuth(deps, (req, res, member) => renderResume(deps, req, res, member)))
    .post(requireRecentAuth(deps, submitResume(deps)))
    .all(only);
}
