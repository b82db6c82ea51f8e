import { ChangePlanPage } from '../../../views/billing/change-plan-page.tsx';
import { formatAmount, formatDate, formatPercent } from '../../../views/format.ts';
import type { PlanChoice } from '../../../views/parts/plan-cards.tsx';
import { HttpError } from '../../http/index.ts';
import type { PlanId } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import { type Catalogue, type Plan, type PlanType, planRank } from '../catalogue/catalogue.ts';
import { StripeUnavailableError } from '../results.ts';
import { isOnHold } from '../subscription/membership-state.ts';
import {
  type Checkout,
  type CheckoutRequest,
  type PageRetry,
  readPlanId,
  runWithStripe,
  unpaidAddress,
} from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { giftPath } from './checkout-flow.ts';
import { findDealForSignUp, partnerDealUrl } from './partner-deal.ts';
import { planPrice, type TextContext } from './plan-view.ts';
import { unfinishedNotice } from './started-payment.ts';
import { runningTrialUntil } from './trial-step.ts';

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

/** The part of twelve months that a year saves, in whole percent, rounded down. */
function savedPercent(catalogue: Catalogue, plan: Plan): number {
  const monthly = plan.kind === 'paid' && plan.type === '2' ? counterpart(catalogue, plan, '1') : undefined;
  if (!monthly || monthly.amountCents === 0) return 0;
  return Math.floor(100 * (1 - plan.amountCents / (12 * monthly.amountCents)));
}

/** '$75 a month, billed yearly' */
function perMonthText({ lang, t }: TextContext, plan: Plan, currency: string): string | undefined {
  if (plan.kind !== 'paid' || plan.period?.interval !== 'year') return undefined;
  // Rounded up: the announced month is never cheaper than the year.
  const amount = formatAmount(lang, Math.ceil(plan.amountCents / 12), { currency, wholes: true });
  return t('checkout.change.perMonthBilledYearly', { amount });
}

type TrialDays = ReadonlyMap<PlanId, number>;

/** No free days are announced while Stripe cannot say whether the saved card has had them. */
async function readTrialDays({ membership }: CheckoutDeps, user: User, plans: readonly Plan[]): Promise<TrialDays> {
  try {
    return await membership.listTrialDays(user, plans);
  } catch (error) {
    if (error instanceof StripeUnavailableError) return new Map();
    throw error;
  }
}

function toPlanChoice(
  ctx: TextContext,
  plan: Plan,
  { catalogue, ownId, trialDays }: { catalogue: Catalogue; ownId: PlanId | null; trialDays: TrialDays },
): PlanChoice {
  const { lang, t } = ctx;
  const percent = savedPercent(catalogue, plan);
  const price = planPrice(ctx, plan, catalogue);
  const perMonth = perMonthText(ctx, plan, catalogue.currency);
  const count = trialDays.get(plan.id);
  return {
    value: plan.id,
    title: plan.name,
    detail: plan.summary(lang),
    features: plan.features(lang),
    ...(price && { price: plan.kind === 'paid' ? price : { amount: price.amount } }),
    ...(price && count !== undefined && { trial: t('checkout.planTrial.lead', { count, ...price }) }),
    ...(perMonth !== undefined && { perMonth }),
    ...(percent > 0 && { saving: t('checkout.change.saves', { amount: formatPercent(lang, percent) }) }),
    ...(plan.id === ownId && { own: t('checkout.change.own') }),
    ...(plan.isMostChosen && { mark: t('checkout.change.popular') }),
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

/** 'You’re on the trial of Basic. Free until November 27, 2026.' */
function toTrialText({ t, lang }: TextContext, { trial }: Catalogue, untilMs: number | undefined): { trial?: string } {
  if (untilMs === undefined) return {};
  const name = t('checkout.change.onTrial', { plan: trial.name });
  return { trial: `${name}. ${t('checkout.trialFree', { date: formatDate(lang, untilMs) })}.` };
}

/** For a user who pays for no plan. */
const toGiftLink = ({ continuation }: CheckoutRequest, { gifts }: Catalogue, own: Plan | undefined) =>
  gifts && own?.kind !== 'paid' ? { giftHref: giftPath + continuation.search } : {};

interface ChoosePlanPageState extends Partial<PageRetry> {
  error?: string;
}

/** A link back, or on with the trial for a user without a plan who has opened this page first. */
function toCancel({ t, checkout: { flow, user } }: CheckoutRequest, trialUntilMs: number | undefined) {
  if (flow.kind !== 'purchase') return { href: flow.summary, label: t('checkout.cancel') };
  const isOnTrial = trialUntilMs !== undefined && user.planId === null;
  return { href: flow.cancelUrl(user), label: t(isOnTrial ? 'checkout.continueTrial' : 'checkout.cancel') };
}

async function renderChoosePlan(r: CheckoutRequest, deps: CheckoutDeps, state: ChoosePlanPageState): Promise<void> {
  const { t } = r;
  const { flow, user, purchase, plan: current, isChosen } = r.checkout;
  const { catalogue } = deps.membership;
  const isPurchase = flow.kind === 'purchase';
  const own = catalogue.byId(user.planId);
  const plan = isPurchase && !purchase && own?.type ? own : current;
  const expected = r.query('type');
  const type = types.find((one) => one === expected) ?? plan.type ?? '2';
  const chosen = counterpart(catalogue, plan, type);
  const offered = plansOfType(catalogue, type);
  const address = withType(flow.changePlan, type);
  const pageState = r.viewAt(address, state);
  if (!pageState) return;
  const { status, notice = unfinishedNotice(t, { flow, purchase }), error } = pageState;
  const membership = await deps.membership.getMembership(user.id);
  const trialUntilMs = runningTrialUntil(membership, deps.now());
  const trialDays = await readTrialDays(deps, user, offered);
  // Nothing is chosen for a user who can go on with the trial.
  const isProposed = isChosen || plan === own || trialUntilMs === undefined;
  r.render(
    ChangePlanPage,
    {
      steps: flow.kind,
      heading: t(isPurchase && !own ? 'checkout.change.choose' : 'checkout.change.heading'),
      action: address,
      periods: types.map((one) => ({
        href: withType(flow.changePlan, one),
        label: periodTexts(r, plansOfType(catalogue, one), one).tab,
        current: one === type,
      })),
      legend: periodTexts(r, offered, type).legend,
      plans: offered.map((one) => toPlanChoice(r, one, { catalogue, ownId: user.planId, trialDays })),
      cancel: toCancel(r, trialUntilMs),
      ...toGiftLink(r, catalogue, own),
      ...toTrialText(r, catalogue, trialUntilMs),
      ...(chosen && isProposed && { value: chosen.id }),
      ...(notice && { notice }),
      ...(error !== undefined && { error }),
    },
    { title: 'checkout.change.heading', address, status, search: flow.continuation.search },
  );
}

/** The page for a user with a paused subscription, or a pause to come: plans cannot be chosen until it is resumed or ends. */
async function pausedFirst(
  { membership }: Pick<CheckoutDeps, 'membership'>,
  { id }: Checkout['user'],
): Promise<string | undefined> {
  const currentMembership = await membership.getMembership(id);
  return currentMembership && isOnHold(currentMembership) ? unpaidAddress : undefined;
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
  await renderChoosePlan(r, deps, {});
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
