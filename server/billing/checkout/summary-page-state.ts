import type { Request, Response } from 'express';
import { createElement } from 'react';
import { cardName } from '../../../views/billing/card-name.ts';
import { PlanSummaryPage, type PlanSummaryPageProps } from '../../../views/billing/plan-summary-page.tsx';
import { formatDate } from '../../../views/format.ts';
import type { PageContext } from '../../../views/page-context.ts';
import { withContinuation } from '../../http/index.ts';
import type { Plan } from '../catalogue/catalogue.ts';
import { trialUntil } from '../catalogue/effective-plan.ts';
import type { ChosenPromotion, Quote } from '../results.ts';
import type { Membership } from '../subscription/membership.ts';
import { type PageRetry, runWithStripe } from './answer-purchase.ts';
import type { CheckoutContext } from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { planLine, toPlanView } from './plan-view.ts';
import { loadQuote, quoteFields, toQuoteView } from './quote-view.ts';

interface SummaryPageState extends Partial<PageRetry> {
  /** The typed promotion code, and its error. */
  promo?: { typed: string; error?: string | undefined };
}

/** The card that is charged, unless the user enters another. */
function savedCard(
  { t }: PageContext,
  { flow }: CheckoutContext,
  currentMembership: Membership | undefined,
  quote: Quote | undefined,
): PlanSummaryPageProps['card'] {
  if (!currentMembership?.card) return undefined;
  const card = cardName(currentMembership.card);
  const text = t(quote?.dueCents === 0 ? 'checkout.cardLater' : 'checkout.card', { card });
  return { text, otherHref: flow.addPayment };
}

/** The text of the button: a free plan is confirmed; a paid one asks for a card first if there is none. */
function buttonText({ t }: PageContext, { flow }: CheckoutContext, quote: Quote | undefined, card: boolean): string {
  if (quote?.when === 'now' && !card) return t('checkout.next');
  return t(flow.kind === 'purchase' ? 'checkout.complete' : 'checkout.confirm');
}

/** The note for a plan that does not need Stripe. */
function freeNote(
  { lang, t }: PageContext,
  { deal, user }: CheckoutContext,
  currentMembership: Membership | undefined,
): string {
  if (deal) return t('checkout.dealNote');
  const until = currentMembership?.paidUntil;
  if (user.planId === null || !currentMembership?.paidPlanId || until == null) return t('checkout.freeNote');
  return t('checkout.freeLater', { date: formatDate(lang, until) });
}

/** The note about a running trial. */
function leadText(
  { lang, t }: PageContext,
  { membership, now }: CheckoutDeps,
  { deal }: CheckoutContext,
  currentMembership: Membership | undefined,
): string {
  if (deal) return t('checkout.dealLead');
  const until = currentMembership ? trialUntil(currentMembership) : null;
  if (until === null || until <= now()) return t('checkout.lead');
  return t('checkout.trialLead', { name: membership.catalogue.trial.name, date: formatDate(lang, until) });
}

/**
 * Renders the summary of a plan: the plan, the amounts today and later, the field for a promotion code, the next step.
 */
export async function renderSummary(
  deps: CheckoutDeps,
  req: Request,
  res: Response,
  context: CheckoutContext,
  { quote: known, ...args }: SummaryPageState,
): Promise<void> {
  const { membership, pages } = deps;
  const { flow, user, deal } = context;
  // The current amount may belong to a plan that was chosen in another tab: the address is that plan's page.
  const address = known ? flow.summaryUrl(known.plan) : flow.summary;
  const state: SummaryPageState | undefined = pages.shownAt(req, res, address, args);
  if (!state) return;
  const { status = 200, notice, promo } = state;
  const { currency } = membership.catalogue;
  const { plan } = context;
  const currentMembership = await membership.getMembership(user.id);
  const owned = user.planId === plan.id;
  // A partner's plan is for life: a free one must not replace it.
  const covered = plan.kind === 'free' && membership.catalogue.byId(currentMembership?.basePlanId)?.kind === 'partner';
  const waits = plan.kind === 'paid' && !owned;
  let quote: Quote | undefined;
  if (waits && status !== 503) {
    const rerender = (unavailable: PageRetry) =>
      renderSummary(deps, req, res, context, { ...unavailable, ...(promo && { promo }) });
    const requested = await runWithStripe(deps, req, res, { act: 'quote', rerender }, () => loadQuote(deps, context));
    if (!requested) return;
    quote = requested.value;
  }
  const { authorization } = flow.continuation;
  const waiting = authorization === undefined ? undefined : await deps.findPendingAuthorization(req, authorization);
  const chosen = quote ? quote.promotion : context.promotion;
  const unfinished = waits && context.purchase?.state === 'charging';
  const toSummaryProps = (ctx: PageContext): PlanSummaryPageProps => {
    const card = waits ? savedCard(ctx, context, currentMembership, quote) : undefined;
    return {
      ctx: withContinuation(ctx, flow.continuation.search),
      steps: flow.kind,
      action: flow.summary,
      plan: toPlanView(ctx, plan, currency),
      lead: leadText(ctx, deps, context, currentMembership),
      cancelHref: flow.cancelUrl(user),
      ...(!deal && { changeHref: flow.changePlan }),
      ...(waiting && { clientName: waiting.clientName }),
      ...(notice
        ? { notice }
        : unfinished && { notice: { kind: 'info', text: ctx.t('checkout.unfinished'), duration: 'never' } }),
      ...(quote && { quote: toQuoteView(ctx, quote, currency) }),
      ...(!waits && !owned && !covered && { quote: { lines: [], note: freeNote(ctx, context, currentMembership) } }),
      // While a payment is in progress its code stays; if nothing is due today there is nothing to discount.
      ...(waits && !unfinished && (quote?.when !== 'later' || promo) && { promo: promoBox(plan, chosen, promo) }),
      ...(card && { card }),
      ...(owned || covered
        ? { has: ctx.t(owned ? 'checkout.owned' : 'checkout.covered') }
        : waits && !quote
          ? { retryHref: flow.summary }
          : { button: buttonText(ctx, context, quote, card !== undefined), hidden: hiddenFields(plan, quote, deal) }),
    };
  };
  pages.send(req, res, status, (ctx) => createElement(PlanSummaryPage, toSummaryProps(ctx)), {
    title: (ctx) => planLine(ctx.t, plan),
    address: flow.summary,
  });
}

function promoBox(
  { id }: Plan,
  chosen: ChosenPromotion | null,
  promo: SummaryPageState['promo'],
): NonNullable<PlanSummaryPageProps['promo']> {
  if (chosen) return { planId: id, applied: chosen.code };
  return { planId: id, typed: promo?.typed ?? '', error: promo?.error };
}

/** The hidden fields: the announced values, which are only compared. */
function hiddenFields(plan: Plan, quote: Quote | undefined, deal: boolean): Record<string, string> {
  if (quote) return quoteFields(quote);
  return { planId: plan.id, ...(!deal && { act: 'free' }) };
}
