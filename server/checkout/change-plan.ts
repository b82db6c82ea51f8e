import type { Request, Response } from 'express';
import { createElement } from 'react';
import { ChangePlanPage } from '../../views/checkout/change-plan-page.tsx';
import { formatAmount } from '../../views/format.ts';
import type { PageContext } from '../../views/page-context.ts';
import type { RadioCard } from '../../views/parts/radio-cards.tsx';
import { field, HttpError, query, withErrand } from '../http/index.ts';
import { type Catalogue, type Plan, type PlanType, rankOf } from '../membership/index.ts';
import { dealAddress, dealAhead } from './deal.ts';
import type { CheckoutDeps } from './deps.ts';
import type { Here, PlaceHandler } from './here.ts';
import { planPrice } from './plan-texts.ts';
import { type Again, pausedFirst, unlessAway } from './respond.ts';

const types = ['2', '1'] as const satisfies readonly PlanType[];

/** What members may choose between; a partner's plans are bought there. */
const offered = ({ plans }: Catalogue, type: PlanType): Plan[] =>
  plans.filter((plan) => plan.kind !== 'partner' && plan.type === type);

/** The plan of the other kind of period that stands where this one does. */
function counterpart(catalogue: Catalogue, plan: Plan, type: PlanType): Plan | undefined {
  if (plan.type === type) return plan;
  const rank = rankOf(catalogue, plan);
  return offered(catalogue, type).find((one) => one.kind === plan.kind && rankOf(catalogue, one) === rank);
}

/** What a year costs less than twelve months. */
function savedCents(catalogue: Catalogue, plan: Plan): number {
  const monthly = plan.kind === 'paid' && plan.type === '2' ? counterpart(catalogue, plan, '1') : undefined;
  return monthly ? 12 * monthly.amountCents - plan.amountCents : 0;
}

function cardOf(ctx: PageContext, catalogue: Catalogue, plan: Plan, ownId: string | null): RadioCard {
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

interface Shown extends Partial<Again> {
  error?: string;
}

function sendChangePlan(
  deps: CheckoutDeps,
  req: Request,
  res: Response,
  { place, user, purchase, plan: current }: Here,
  given: Shown,
): void {
  const { catalogue } = deps.membership;
  const own = catalogue.byId(user.planId);
  const plan = place.fixed && !purchase && own?.type ? own : current;
  const wanted = query(req, 'type');
  const type = types.find((one) => one === wanted) ?? plan.type ?? '2';
  const chosen = counterpart(catalogue, plan, type);
  const address = withType(place.changePlan, type);
  const shown = deps.pages.shownAt(req, res, address, given);
  if (!shown) return;
  const { status = 200, notice, error } = shown;
  deps.pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(ChangePlanPage, {
        ctx: withErrand(ctx, place.errand.search),
        steps: place.kind,
        heading: ctx.t(place.fixed && !own ? 'checkout.change.choose' : 'checkout.change.heading'),
        action: address,
        periods: types.map((one) => ({
          href: withType(place.changePlan, one),
          label: ctx.t(one === '2' ? 'common.interval.annual' : 'common.interval.monthly'),
          current: one === type,
        })),
        legend: ctx.t(type === '2' ? 'checkout.change.annual' : 'checkout.change.monthly'),
        cards: offered(catalogue, type).map((one) => cardOf(ctx, catalogue, one, user.planId)),
        cancelHref: place.fixed ? place.cancel(user) : place.summary,
        ...(chosen && { value: chosen.id }),
        ...(notice && { notice }),
        ...(error !== undefined && { error }),
      }),
    { title: (ctx) => ctx.t('checkout.change.heading'), address },
  );
}

/** GET: Annual or Monthly, and the plans of it. */
export function showChangePlan(deps: CheckoutDeps): PlaceHandler {
  return async (req, res, here) => {
    const { place, user } = here;
    // A partner's deal leaves nothing to choose.
    if (here.deal) return res.redirect(303, place.summary);
    const waits = place.kind === 'purchase' && (await dealAhead(deps, user));
    if (waits) return res.redirect(303, dealAddress(waits, place.errand.search));
    const paused = await pausedFirst(deps, user);
    if (paused !== undefined) return res.redirect(303, paused);
    sendChangePlan(deps, req, res, here, {});
  };
}

/** POST: the plan is chosen; another than before forgets the promotion code. */
export function submitChangePlan(deps: CheckoutDeps): PlaceHandler {
  return async (req, res, here) => {
    const { place, user, deal } = here;
    if (deal) return res.redirect(303, place.summary);
    if (!['', 'choose'].includes(field(req, 'act'))) throw new HttpError('badRequest', { detail: 'act is not choose' });
    const plan = deps.membership.catalogue.byId(field(req, 'planId'));
    if (!plan || plan.kind === 'partner') {
      const error = req.t('checkout.change.none');
      return sendChangePlan(deps, req, res, here, { status: 400, error });
    }
    if (plan.id !== user.planId) {
      const again = (shown: Again) => sendChangePlan(deps, req, res, here, shown);
      const chosen = await unlessAway(deps, req, res, { act: 'update', again }, () =>
        deps.membership.choose(user, plan),
      );
      if (!chosen) return;
    }
    res.redirect(303, place.summaryOf(plan));
  };
}
