import { ChangePlanPage } from '../../../views/billing/change-plan-page.tsx';
import { formatAmount } from '../../../views/format.ts';
import type { RadioCard } from '../../../views/parts/radio-cards.tsx';
import { HttpError } from '../../http/index.ts';
import type { PlanId } from '../../shared/index.ts';
import { type Catalogue, type Plan, type PlanType, planRank } from '../catalogue/catalogue.ts';
import { type CheckoutRequest, type PageRetry, pausedFirst, readPlanId, runWithStripe } from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { findDealForSignUp, partnerDealUrl } from './partner-deal.ts';
import { planPrice, type TextContext } from './plan-view.ts';

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

function toRadioCard(
  ctx: TextContext,
  plan: Plan,
  { catalogue, ownId }: { catalogue: Catalogue; ownId: PlanId | null },
): RadioCard {
  const { lang, t } = ctx;
  const { currency } = catalogue;
  const saved = savedCents(catalogue, plan);
  const price = planPrice(ctx, plan, catalogue);
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

/** The words of a tab and of the list under it. */
function periodTexts({ t }: Pick<TextContext, 't'>, plans: readonly Plan[], type: PlanType) {
  const period = plans.find(({ kind }) => kind === 'paid')?.period;
  if (period?.interval === 'day') {
    const days = period.count;
    return { tab: t('common.interval.everyDays', { days }), legend: t('checkout.change.everyDays', { days }) };
  }
  return type === '2'
    ? { tab: t('common.interval.annual'), legend: t('checkout.change.annual') }
    : { tab: t('common.interval.monthly'), legend: t('checkout.change.monthly') };
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

function renderChoosePlan(r: CheckoutRequest, deps: CheckoutDeps, state: ChoosePlanPageState): void {
  const { t } = r;
  const { flow, user, purchase, plan: current } = r.checkout;
  const { catalogue } = deps.membership;
  const own = catalogue.byId(user.planId);
  const plan = flow.fixed && !purchase && own?.type ? own : current;
  const expected = r.query('type');
  const type = types.find((one) => one === expected) ?? plan.type ?? '2';
  const chosen = counterpart(catalogue, plan, type);
  const offered = plansOfType(catalogue, type);
  const address = withType(flow.changePlan, type);
  const pageState = r.viewAt(address, state);
  if (!pageState) return;
  const { status, notice, error } = pageState;
  r.render(
    ChangePlanPage,
    {
      steps: flow.kind,
      heading: t(flow.fixed && !own ? 'checkout.change.choose' : 'checkout.change.heading'),
      action: address,
      periods: types.map((one) => ({
        href: withType(flow.changePlan, one),
        label: periodTexts(r, plansOfType(catalogue, one), one).tab,
        current: one === type,
      })),
      legend: periodTexts(r, offered, type).legend,
      cards: offered.map((one) => toRadioCard(r, one, { catalogue, ownId: user.planId })),
      cancelHref: flow.fixed ? flow.cancelUrl(user) : flow.summary,
      ...(chosen && { value: chosen.id }),
      ...(notice && { notice }),
      ...(error !== undefined && { error }),
    },
    { title: 'checkout.change.heading', address, status, search: flow.continuation.search },
  );
}

/** GET: Annual or Monthly, and its plans. */
export async function showChangePlan(r: CheckoutRequest, deps: CheckoutDeps) {
  const { flow, user, deal } = r.checkout;
  // With a partner's deal there is no choice.
  if (deal) return r.redirect(flow.summary);
  const waits = flow.kind === 'purchase' && (await findDealForSignUp(deps, user));
  if (waits) return r.redirect(partnerDealUrl(waits, flow.continuation.search));
  const paused = await pausedFirst(deps, user);
  if (paused !== undefined) return r.redirect(paused);
  renderChoosePlan(r, deps, {});
}

/** POST: stores the choice; another plan than before removes the promotion code. */
export async function submitChangePlan(r: CheckoutRequest, deps: CheckoutDeps) {
  const { flow, user, deal } = r.checkout;
  if (deal) return r.redirect(flow.summary);
  if (!['', 'choose'].includes(r.field('act'))) throw new HttpError('badRequest', { detail: 'unknown form action' });
  const plan = deps.membership.catalogue.byId(readPlanId(r));
  if (!plan || plan.kind === 'partner') {
    return renderChoosePlan(r, deps, { status: 400, error: r.t('checkout.change.none') });
  }
  if (plan.id !== user.planId) {
    const rerender = (view: PageRetry) => renderChoosePlan(r, deps, view);
    const chosen = await runWithStripe(r, { act: 'update', rerender }, () => deps.membership.choose(user, plan));
    if (!chosen) return;
  }
  r.redirect(flow.summaryUrl(plan));
}
