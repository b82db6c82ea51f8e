import type { Request, RequestHandler, Response, Router } from 'express';
import { createElement, type ReactElement } from 'react';
import type { TextKey } from '../../../locales/index.ts';
import type { ActionProblem } from '../../../views/account/account-action.tsx';
import { CancelMembershipPage, ResumeMembershipPage } from '../../../views/account/cancel-membership-pages.tsx';
import type { PlanStatusView } from '../../../views/account/membership-view.ts';
import { membershipPath } from '../../../views/account/tabs.ts';
import type { PageContext } from '../../../views/page-context.ts';
import { runOrRerender } from '../../billing/index.ts';
import { methodNotAllowed } from '../../http/index.ts';
import type { PlanId } from '../../shared/index.ts';
import type { AccountDeps } from '../deps.ts';
import { membershipPageUrl } from '../notices.ts';
import { type MemberHandler, requireRecentAuth, type SignedInUser } from '../require-recent-auth.ts';
import { toMembershipView } from './membership-view.ts';

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

/** A request for the page of an action. `input`: it is rendered again after a failed POST. */
interface ActionRequest {
  req: Request;
  res: Response;
  member: SignedInUser;
  input?: StripeUnavailableState;
}

/** The page of an action, which only applies to some states of a membership. */
interface ActionPage<Status extends PlanStatusView> {
  path: string;
  appliesTo(status: PlanStatusView): status is Status;
  toTitle(status: Status): TextKey;
  /** @param basePlanId the plan without the subscription */
  toView(
    common: { ctx: PageContext; action: string; problem: ActionProblem | undefined },
    status: Status,
    basePlanId: PlanId | null | undefined,
  ): ReactElement;
}

async function renderAction<Status extends PlanStatusView>(
  deps: AccountDeps,
  { req, res, member, input }: ActionRequest,
  { path, appliesTo, toTitle, toView }: ActionPage<Status>,
) {
  const { membership, pages } = deps;
  const unavailable: Partial<StripeUnavailableState> | undefined = pages.shownAt(req, res, path, input ?? {});
  if (!unavailable) return;
  const { status: httpStatus = 200, problem } = unavailable;
  const currentMembership = await membership.getMembership(member.user.id);
  const shownIn = toMembershipView(deps, member, currentMembership);
  const { status } = shownIn(pages.context(req, res));
  if (!appliesTo(status)) return res.redirect(303, membershipPageUrl('nothing'));
  pages.send(
    req,
    res,
    httpStatus,
    (ctx) => {
      const current = shownIn(ctx).status;
      if (!appliesTo(current)) throw new Error('changed');
      return toView({ ctx, action: path, problem }, current, currentMembership?.basePlanId);
    },
    { title: (ctx) => ctx.t(toTitle(status)), address: path },
  );
}

type Ending = Extract<PlanStatusView, { kind: 'renews' | 'changes' | 'unpaid' | 'paused' }>;

/** Until when the plan stays. */
const cancelPage = ({ membership }: Pick<AccountDeps, 'membership'>): ActionPage<Ending> => ({
  path: cancelPath,
  appliesTo: (status): status is Ending => ['renews', 'changes', 'unpaid', 'paused'].includes(status.kind),
  toTitle: () => 'membership.cancel.title',
  toView: (common, status, basePlanId) =>
    createElement(CancelMembershipPage, {
      ...common,
      plan: status.plan.name,
      until: status.kind === 'paused' ? null : status.at,
      atOnce: status.kind === 'unpaid' || status.kind === 'paused' ? status.kind : undefined,
      to: status.kind === 'changes' ? status.to : undefined,
      after: membership.catalogue.byId(basePlanId)?.name,
    }),
});

type Scheduled = Extract<PlanStatusView, { kind: 'ends' | 'changes' }>;

/** Cancels a scheduled end or change. */
const resumePage: ActionPage<Scheduled> = {
  path: resumePath,
  appliesTo: (status): status is Scheduled => status.kind === 'ends' || status.kind === 'changes',
  toTitle: ({ kind }) => (kind === 'ends' ? 'membership.resume.title' : 'membership.resume.keepTitle'),
  toView: (common, status) =>
    createElement(ResumeMembershipPage, {
      ...common,
      plan: status.plan.name,
      at: status.at,
      to: status.kind === 'changes' ? status.to : undefined,
    }),
};

function submitCancel(deps: AccountDeps): MemberHandler {
  return async (req, res, member) => {
    const repeated = (input: StripeUnavailableState) =>
      renderAction(deps, { req, res, member, input }, cancelPage(deps));
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
    const repeated = (input: StripeUnavailableState) => renderAction(deps, { req, res, member, input }, resumePage);
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
    .get(requireRecentAuth(deps, (req, res, member) => renderAction(deps, { req, res, member }, cancelPage(deps))))
    .post(requireRecentAuth(deps, submitCancel(deps)))
    .all(only);
  router
    .route(resumePath)
    .all(onlyWithPlans(deps))
    .get(requireRecentAuth(deps, (req, res, member) => renderAction(deps, { req, res, member }, resumePage)))
    .post(requireRecentAuth(deps, submitResume(deps)))
    .all(only);
}
