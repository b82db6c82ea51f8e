import type { Request, RequestHandler, Response, Router } from 'express';
import { createElement } from 'react';
import { CancelMembershipPage, ResumeMembershipPage } from '../../views/settings/membership-act-pages.tsx';
import type { PlanStanding } from '../../views/settings/membership-shown.ts';
import type { ActProblem } from '../../views/settings/settings-act.tsx';
import { membershipPath } from '../../views/settings/tabs.ts';
import { orShowAgain } from '../checkout/index.ts';
import { methodNotAllowed } from '../http/index.ts';
import type { SettingsDeps } from './deps.ts';
import { type MemberHandler, recently, type SignedIn } from './guard.ts';
import { shownMembership } from './membership-shown.ts';
import { membershipAfter } from './notices.ts';

export const cancelPath = `${membershipPath}/cancel`;
export const resumePath = `${membershipPath}/resume`;

/** Shown with an act's page again: Stripe has not answered. */
export interface ActAway {
  status: 503;
  problem: ActProblem;
}

/**
 * Does what needs Stripe; where it does not answer, the act's page is shown again.
 * @param word of the specification for that act (section 8)
 * @returns undefined when the page has been shown
 */
export function unlessAway<R>(
  { log }: Pick<SettingsDeps, 'log'>,
  [req, res]: [Request, Response],
  word: 'checkout.away.quote' | 'checkout.away.confirm' | 'checkout.away.update',
  again: (away: ActAway) => unknown,
  work: () => Promise<R>,
): Promise<{ value: R } | undefined> {
  const { t } = req;
  const shown = () => again({ status: 503, problem: { title: t(word), text: t('checkout.away.text') } });
  return orShowAgain({ log }, res, `settings: ${word}`, shown, work);
}

type Ending = Extract<PlanStanding, { kind: 'renews' | 'changes' | 'unpaid' | 'paused' }>;

const canEnd = (standing: PlanStanding): standing is Ending =>
  ['renews', 'changes', 'unpaid', 'paused'].includes(standing.kind);

/** GET /settings/membership/cancel, and again after a POST that did not work: until when the plan stays. */
async function sendCancel(deps: SettingsDeps, req: Request, res: Response, member: SignedIn, given?: ActAway) {
  const { membership, pages } = deps;
  const away: Partial<ActAway> | undefined = pages.shownAt(req, res, cancelPath, given ?? {});
  if (!away) return;
  const standing = await membership.standing(member.user.id);
  const shownIn = shownMembership(deps, member, standing);
  const { standing: how } = shownIn(pages.context(req, res));
  if (!canEnd(how)) {
    return res.redirect(303, membershipAfter('nothing'));
  }
  pages.send(
    req,
    res,
    away.status ?? 200,
    (ctx) => {
      const shown = shownIn(ctx).standing;
      if (!canEnd(shown)) throw new Error('changed');
      const after = membership.catalogue.byId(standing?.basePlanId);
      return createElement(CancelMembershipPage, {
        ctx,
        action: cancelPath,
        problem: away.problem,
        plan: shown.plan.name,
        until: shown.kind === 'paused' ? null : shown.at,
        atOnce: shown.kind === 'unpaid' || shown.kind === 'paused' ? shown.kind : undefined,
        to: shown.kind === 'changes' ? shown.to : undefined,
        after: after?.name,
      });
    },
    { title: (ctx) => ctx.t('membership.cancel.title'), address: cancelPath },
  );
}

/** GET /settings/membership/resume: takes back the end, or the change, that was to come. */
async function sendResume(deps: SettingsDeps, req: Request, res: Response, member: SignedIn, given?: ActAway) {
  const { membership, pages } = deps;
  const away: Partial<ActAway> | undefined = pages.shownAt(req, res, resumePath, given ?? {});
  if (!away) return;
  const standing = await membership.standing(member.user.id);
  const shownIn = shownMembership(deps, member, standing);
  const { kind } = shownIn(pages.context(req, res)).standing;
  if (kind !== 'ends' && kind !== 'changes') return res.redirect(303, membershipAfter('nothing'));
  pages.send(
    req,
    res,
    away.status ?? 200,
    (ctx) => {
      const shown = shownIn(ctx).standing;
      if (shown.kind !== 'ends' && shown.kind !== 'changes') throw new Error('changed');
      return createElement(ResumeMembershipPage, {
        ctx,
        action: resumePath,
        problem: away.problem,
        plan: shown.plan.name,
        at: shown.at,
        to: shown.kind === 'changes' ? shown.to : undefined,
      });
    },
    {
      title: (ctx) => ctx.t(kind === 'ends' ? 'membership.resume.title' : 'membership.resume.keepTitle'),
      address: resumePath,
    },
  );
}

function submitCancel(deps: SettingsDeps): MemberHandler {
  return async (req, res, member) => {
    const again = (away: ActAway) => sendCancel(deps, req, res, member, away);
    const cancel = () => deps.membership.cancel(member.user);
    const answered = await unlessAway(deps, [req, res], 'checkout.away.confirm', again, cancel);
    if (!answered) return;
    if (answered.value === 'nothing') return res.redirect(303, membershipAfter('nothing'));
    if (answered.value === 'noted') return res.redirect(303, membershipAfter('cancel-noted'));
    const after = await deps.membership.standing(member.user.id);
    res.redirect(303, membershipAfter(after?.cancelAtPeriodEnd ? 'cancelled' : 'ended'));
  };
}

function submitResume(deps: SettingsDeps): MemberHandler {
  return async (req, res, member) => {
    const again = (away: ActAway) => sendResume(deps, req, res, member, away);
    const resume = () => deps.membership.resume(member.user);
    const answered = await unlessAway(deps, [req, res], 'checkout.away.confirm', again, resume);
    if (answered) res.redirect(303, membershipAfter(answered.value === 'noted' ? 'resume-noted' : answered.value));
  };
}

/** Where no plans are sold there is nothing to act on. */
export const whereSold =
  ({ membership }: Pick<SettingsDeps, 'membership'>): RequestHandler =>
  (_req, _res, next) =>
    next(membership.sold ? undefined : 'router');

/** Cancelling, and taking that back: at the period's end both, so nothing is ever lost by a click. */
export function membershipActRoutes(router: Router, deps: SettingsDeps): void {
  const only = methodNotAllowed('GET', 'HEAD', 'POST');
  router
    .route(cancelPath)
    .all(whereSold(deps))
    .get(recently(deps, (req, res, member) => sendCancel(deps, req, res, member)))
    .post(recently(deps, submitCancel(deps)))
    .all(only);
  router
    .route(resumePath)
    .all(whereSold(deps))
    .get(recently(deps, (req, res, member) => sendResume(deps, req, res, member)))
    .post(recently(deps, submitResume(deps)))
    .all(only);
}
