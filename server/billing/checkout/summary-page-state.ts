import { checkoutTitle } from '../../../views/billing/checkout-steps.tsx';
import { PlanSummaryPage, type PlanSummaryPageProps } from '../../../views/billing/plan-summary-page.tsx';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { toDetailsView } from '../details/details-view.ts';
import type { Membership } from '../subscription/membership.ts';
import { changeKindByCard, currentPaidPlan } from '../subscription/membership-state.ts';
import { type Checkout, type CheckoutRequest, isOwnPlan, type PageRetry, runWithStripe } from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { renewalNotice } from './checkout-texts.ts';
import { atOwnPrice, type TextContext, toPlanView } from './plan-view.ts';
import { loadQuote, quoteFields, toBeginBox, toQuoteView } from './quote-view.ts';
import { type EndOnNotice, findRefundOnNotice } from './refund-view.ts';
import { unfinishedNotice } from './started-payment.ts';
import {
  buttonText,
  findFollowing,
  freeNote,
  laterNotice,
  leadText,
  type PlanStatus,
  type SummaryFacts,
  savedCard,
  saysNoTrial,
} from './summary-texts.ts';
import { findEndedTrial, renderTrialStep, trialInStep } from './trial-step.ts';

interface SummaryPageState extends Partial<PageRetry> {
  /** The typed promotion code, and its error. */
  promo?: { typed: string; error?: string | undefined } | 'just-applied' | undefined;
  /** The typed number of seats, and its error. */
  seats?: { typed: string; error?: string } | undefined;
}

type SummaryProps = Omit<PlanSummaryPageProps, 'ctx'>;

function toPlanStatus(
  { membership: { catalogue } }: CheckoutDeps,
  checkout: Checkout,
  currentMembership: Membership | undefined,
): PlanStatus {
  const { plan } = checkout;
  if (isOwnPlan(checkout)) return 'owned';
  if (plan.kind === 'paid') return 'payable';
  const isCovered = plan.kind === 'free' && catalogue.byId(currentMembership?.basePlanId)?.kind === 'partner';
  return isCovered ? 'covered' : 'without-payment';
}

/** The amounts, or the note for a plan without any. */
function toQuoteProps(
  ctx: TextContext,
  { membership, now }: CheckoutDeps,
  { isTrialNamed, ...facts }: SummaryFacts & { isTrialNamed: boolean },
): Pick<SummaryProps, 'quote'> {
  const { quote, planStatus } = facts;
  if (quote) {
    const { catalogue } = membership;
    // The lead has named it, unless a notice is there.
    const endedTrial = isTrialNamed ? undefined : findEndedTrial(facts.membership, catalogue, now());
    const current = facts.membership && currentPaidPlan(catalogue, facts.membership);
    return { quote: toQuoteView(ctx, quote, { ...catalogue, endedTrial, current }) };
  }
  return planStatus === 'without-payment' ? { quote: { lines: [], note: [freeNote(ctx, facts)] } } : {};
}

/** The button with its hidden fields, or what stands in its place. */
function toActionProps(
  ctx: TextContext,
  facts: SummaryFacts,
  how: { hasCard: boolean; catalogue: Catalogue } & Pick<SummaryPageState, 'needsPlace' | 'beginMissing' | 'mustWait'>,
): Pick<SummaryProps, 'has' | 'retryHref' | 'placeHref' | 'nextHref' | 'button' | 'mustWait' | 'hidden' | 'begin'> {
  const { checkout, planStatus, quote, renewal, details } = facts;
  if (renewal) return {};
  if (planStatus === 'owned' || planStatus === 'covered') return { has: ctx.t(`checkout.${planStatus}`) };
  if (details?.isMissing) return { nextHref: checkout.flow.billingDetails };
  if (planStatus === 'payable' && !quote) {
    return how.needsPlace ? { placeHref: checkout.flow.billingDetails } : { retryHref: checkout.flow.summary };
  }
  // It would be refused again.
  if (how.mustWait) return { mustWait: true };
  const { hasCard, catalogue, beginMissing: isMissing = false } = how;
  const begin = quote && hasCard ? toBeginBox(ctx, quote, { catalogue, isMissing }) : undefined;
  const { currency } = catalogue;
  return {
    button: buttonText(ctx, facts, { hasCard, currency }),
    hidden: hiddenFields(facts),
    ...(begin && { begin }),
  };
}

/** The card and the field for a promotion code of a payable plan, and the note about its payment. */
function toPaymentProps(
  ctx: TextContext,
  facts: SummaryFacts,
  { promo, notice, needsPlace, mustWait }: SummaryPageState,
): Pick<SummaryProps, 'card' | 'promo' | 'notice'> {
  const { checkout, quote, renewal } = facts;
  if (renewal) return { notice: renewalNotice(ctx, renewal) };
  const isPayable = facts.planStatus === 'payable' && !facts.details?.isMissing;
  const card = isPayable && !mustWait ? savedCard(ctx, facts) : undefined;
  const unfinished = isPayable ? unfinishedNotice(ctx.t, checkout) : undefined;
  // While a payment is in progress its code stays; if nothing is due today there is nothing to discount.
  // While the address is missing there is no amount from which to take it.
  const asksCode = isPayable && !unfinished && !needsPlace && !mustWait && (quote?.when !== 'later' || promo);
  return {
    ...(notice ? { notice } : unfinished ? { notice: unfinished } : laterNotice(ctx, facts)),
    ...(asksCode && { promo: promoBox(facts, promo) }),
    ...(card && { card }),
  };
}

/** The billing details that the invoice will have. */
function toDetailsProps(ctx: TextContext, { checkout, details }: SummaryFacts): Pick<SummaryProps, 'details'> {
  const view = details && toDetailsView(ctx, checkout.user, details);
  return view?.text === undefined ? {} : { details: { view, href: checkout.flow.billingDetails } };
}

/** The amounts of the plan, unless a renewal comes first: then none can be announced. @throws {StripeUnavailableError} */
async function loadAmounts(deps: CheckoutDeps, checkout: Checkout): Promise<Partial<SummaryFacts>> {
  // A payment that was started before goes on: it credits nothing of the new period.
  const isUnfinished = checkout.purchase?.state === 'charging';
  const renewal = isUnfinished ? undefined : await deps.membership.renewalBefore(checkout.user, checkout.plan);
  return renewal ? { renewal } : { quote: await loadQuote(deps, checkout) };
}

/** The end on a month's notice of the paid plan that one without payment replaces. */
const findEnd = (r: CheckoutRequest, deps: CheckoutDeps, planStatus: PlanStatus): Promise<EndOnNotice | undefined> =>
  planStatus === 'without-payment' && !r.checkout.deal
    ? findRefundOnNotice(r, deps, r.checkout.user.id)
    : Promise.resolve(undefined);

/**
 * Renders the summary of a plan: the plan, the amounts today and later, the field for a promotion code, the next step.
 */
export async function renderSummary(
  r: CheckoutRequest,
  deps: CheckoutDeps,
  { quote: known, ...args }: SummaryPageState,
): Promise<void> {
  const { checkout } = r;
  const { flow, user, plan, deal } = checkout;
  // The current amount may belong to a plan that was chosen in another tab: the address is that plan's page.
  const address = known ? flow.summaryUrl(known.plan) : flow.summary;
  const state: SummaryPageState | undefined = r.viewAt(address, args);
  if (!state) return;
  const { status, promo, seats } = state;
  const membership = await deps.membership.getMembership(user.id);
  const trial = trialInStep(checkout, membership, deps.now());
  if (trial) return renderTrialStep(r, deps, { ...trial, ...state });
  const planStatus = toPlanStatus(deps, checkout, membership);
  const details = planStatus === 'payable' ? await deps.membership.findDetails(user.id) : undefined;
  let amounts: Partial<Pick<SummaryFacts, 'quote' | 'renewal'>> = {};
  if (details && !details.isMissing && status !== 503 && !state.needsPlace) {
    const rerender = (unavailable: PageRetry) => renderSummary(r, deps, { ...unavailable, promo, seats });
    const requested = await runWithStripe(r, { act: 'quote', rerender }, () => loadAmounts(deps, checkout));
    if (!requested) return;
    amounts = requested.value;
  }
  const isUpgrade =
    membership !== undefined && changeKindByCard(deps.membership.catalogue, membership, plan) === 'upgrade';
  const facts: SummaryFacts = {
    checkout,
    membership,
    planStatus,
    details,
    quote: amounts.quote,
    renewal: amounts.renewal,
    isUpgrade,
    end: await findEnd(r, deps, planStatus),
  };
  const payment = toPaymentProps(r, facts, state);
  const leadFacts = { ...facts, hasNotice: payment.notice !== undefined };
  const changesTo = findFollowing(facts);
  const { authorization, search } = flow.continuation;
  const waiting = authorization === undefined ? undefined : await deps.findPendingAuthorization(r.req, authorization);
  r.render(
    PlanSummaryPage,
    {
      steps: flow.kind,
      changesTo,
      action: flow.summary,
      plan: toPlanView(r, atOwnPrice(plan, membership), deps.membership.catalogue),
      lead: leadText(r, deps, leadFacts),
      cancelHref: flow.cancelUrl(user),
      ...(!deal && { changeHref: flow.changePlan }),
      ...(waiting && { clientName: waiting.clientName }),
      ...toQuoteProps(r, deps, { ...facts, isTrialNamed: !saysNoTrial(leadFacts) }),
      ...payment,
      ...toSeatsProps(facts, seats),
      ...toDetailsProps(r, facts),
      ...toActionProps(r, facts, {
        ...state,
        hasCard: payment.card !== undefined,
        catalogue: deps.membership.catalogue,
      }),
    },
    { title: (ctx) => checkoutTitle(ctx, flow.kind, changesTo), address: flow.summary, status, search },
  );
}

/** The field for the number of seats. */
function toSeatsProps(
  { checkout: { plan }, planStatus, renewal }: SummaryFacts,
  typed: SummaryPageState['seats'],
): Pick<SummaryProps, 'seats'> {
  const { seats: range, chosenSeats } = plan;
  if (range === null || renewal || planStatus === 'covered') return {};
  return { seats: { planId: plan.id, range, typed: String(chosenSeats ?? range.min), ...typed } };
}

function promoBox(
  { checkout, quote }: SummaryFacts,
  promo: SummaryPageState['promo'],
): NonNullable<SummaryProps['promo']> {
  const { id } = checkout.plan;
  const chosen = quote ? quote.promotion : checkout.promotion;
  if (chosen) return { planId: id, applied: chosen.code, isNew: promo === 'just-applied' };
  return { planId: id, typed: '', ...(promo !== 'just-applied' && promo) };
}

/** The hidden fields: the announced values, which are only compared. */
function hiddenFields({ checkout: { plan, deal }, quote, end }: SummaryFacts): Record<string, string> {
  if (quote) return quoteFields(quote);
  return { planId: plan.id, ...(!deal && { act: 'free' }), ...end?.fields };
}
