import type { Request, Response } from 'express';
import { createElement } from 'react';
import { ChangePlanPage } from '../../../views/billing/change-plan-page.tsx';
import { formatAmount } from '../../../views/format.ts';
import type { PageContext } from '../../../views/page-context.ts';
import type { RadioCard } from '../../../views/parts/radio-cards.tsx';
import { HttpError, readFormField, readQueryParam, withContinuation } from '../../http/index.ts';
import { type Catalogue, type Plan, type PlanType, planRank } from '../catalogue/catalogue.ts';
import { type PageRetry, pausedFirst, runWithStripe } from './answer-purchase.ts';
import type { CheckoutContext, CheckoutHandler } from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { findDealForSignUp, partnerDealUrl } from './partner-deal.ts';
import { planPrice } from './plan-view.ts';
import { readPlanId } from './read-plan.ts';

const types = ['2', '1'] as const satisfies readonly PlanType[];

/** The plans that users can choose; a partner's plans are bought at the partner. */
const plansOfType = ({ plans }: Catalogue, type: PlanType): Plan[] =>
  plans.filter((plan) => plan.kind !== 'partner' && plan.type === type);

/** The plan with the other interval at the same position. */
function counterpart(catalogue: Catalogue, plan: Plan, type: PlanType): Plan | undefined {
  if (plan.type === type) return plan;
  const rank = planRank(catalogue, plan);
  return plansOfType(catalogue, type).find((one) => one.kind === plan.kind && planRank(catalogue, one) === rank);
}

/** The saving of a year compared to twelve months. */
function savedCents(catalogue: Catalogue, plan: Plan): number {
  const monthly = plan.kind === 'paid' && plan.type === '2' ? counterpart(catalogue, plan, '1') : undefined;
  return monthly ? 12 * monthly.amountCents - plan.amountCents : 0;
}

function toRadioCard(ctx: PageContext, catalogue: Catalogue, plan: Plan, ownId: string | null): RadioCard {
  const { lang, t } = ctx;
  const { currency } = catalogue;
  const saved = savedCents(catalogue, plan);
  const price = planPrice(ctx, plan, currency);
  const badge =
    plan.id === ownId
      ? t('checkout.change.own')
      : saved > 0
        ? t('checkout.change.saves', { amount: formatAmount(lang, saved, { currency, wholes: true }) })
        : undefined;
  return {
    value: plan.id,
    title: plan.name,
    detail: plan.summary(lang),
    ...(badge !== undefined && { badge }),
    ...(price && { price }),
  };
}

function withType(address: string, type: PlanType): string {
  const [path = '', search = ''] = address.split('?');
  const parameters = new URLSearchParams(search);
  parameters.set('type', type);
  return `${path}?${parameters}`;
}

interface ChoosePlanPageState extends Partial<PageRetry> {
  error?: string;
}

function renderChoosePlan(
  deps: CheckoutDeps,
  req: Request,
  res: Response,
  { flow, user, purchase, plan: current }: CheckoutContext,
  state: ChoosePlanPageState,
): void {
  const { catalogue } = deps.membership;
  const own = catalogue.byId(user.planId);
  const plan = flow.fixed && !purchase && own?.type ? own : current;
  const expected = readQueryParam(req, 'type');
  const type = types.find((one) => one === expected) ?? plan.type ?? '2';
  const chosen = counterpart(catalogue, plan, type);
  const address = withType(flow.changePlan, type);
  const pageState = deps.pages.shownAt(req, res, address, state);
  if (!pageState) return;
  const { status = 200, notice, error } = pageState;
  deps.pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(ChangePlanPage, {
        ctx: withContinuation(ctx, flow.continuation.search),
        steps: flow.kind,
        heading: ctx.t(flow.fixed && !own ? 'checkout.change.choose' : 'checkout.change.heading'),
        action: address,
        periods: types.map((one) => ({
          href: withType(flow.changePlan, one),
          label: ctx.t(one === '2' ? 'common.interval.annual' : 'common.interval.monthly'),
          current: one === type,
        })),
        legend: ctx.t(type === '2' ? 'checkout.change.annual' : 'checkout.change.monthly'),
        cards: plansOfType(catalogue, type).map((one) => toRadioCard(ctx, catalogue, one, user.planId)),
        cancelHref: flow.fixed ? flow.cancelUrl(user) : flow.summary,
        ...(chosen && { value: chosen.id }),
        ...(notice && { notice }),
        ...(error !== undefined && { error }),
      }),
    { title: (ctx) => ctx.t('checkout.change.heading'), address },
  );
}

/** GET: Annual or Monthly, and its plans. */
export function showChangePlan(deps: CheckoutDeps): CheckoutHandler {
  return async (req, res, context) => {
    const { flow, user } = context;
    // With a partner's deal there is no choice.
    if (context.deal) return res.redirect(303, flow.summary);
    const waits = flow.kind === 'purchase' && (await findDealForSignUp(deps, user));
    if (waits) return res.redirect(303, partnerDealUrl(waits, flow.continuation.search));
    const paused = await pausedFirst(deps, user);
    if (paused !== undefined) return res.redirect(303, paused);
    renderChoosePlan(deps, req, res, context, {});
  };
}

/** POST: stores the choice; another plan than before removes the promotion code. */
export function submitChangePlan(deps: CheckoutDeps): CheckoutHandler {
  return async (req, res, context) => {
    const { flow, user, deal } = context;
    if (deal) return res.redirect(303, flow.summary);
    if (!['', 'choose'].includes(readFormField(req, 'act')))
      throw new HttpError('badRequest', { detail: 'unknown form action' });
    const plan = deps.membership.catalogue.byId(readPlanId(req));
    if (!plan || plan.kind === 'partner') {
      const error = req.t('checkout.change.none');
      return renderChoosePlan(deps, req, res, context, { status: 400, error });
    }
    if (plan.id !== user.planId) {
      const rerender = (view: PageRetry) => renderChoosePlan(deps, req, res, context, view);
      const chosen = await runWithStripe(deps, req, res, { act: 'update', rerender }, () =>
        deps.membership.choose(user, plan),
      );
      if (!chosen) return;
    }
    res.redirect(303, flow.summaryUrl(plan));
  };
}
