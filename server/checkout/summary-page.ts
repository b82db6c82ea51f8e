import type { Request, Response } from 'express';
import { createElement } from 'react';
import { cardName } from '../../views/checkout/card-name.ts';
import { PlanSummaryPage, type PlanSummaryPageProps } from '../../views/checkout/plan-summary-page.tsx';
import { formatDate } from '../../views/format.ts';
import type { PageContext } from '../../views/page-context.ts';
import { withErrand } from '../http/index.ts';
import { type ChosenPromotion, type Membership, type Plan, type Quote, trialUntil } from '../membership/index.ts';
import type { CheckoutDeps } from './deps.ts';
import type { Here } from './here.ts';
import { planLine, shownPlan } from './plan-texts.ts';
import { announcing, quoteOf, shownQuote } from './quote.ts';
import { type Again, unlessAway } from './respond.ts';

interface Shown extends Partial<Again> {
  /** What was typed as a promotion code, and what is wrong with it. */
  promo?: { typed: string; error?: string | undefined };
}

/** The card that is charged, unless another is used. */
function savedCard(
  { t }: PageContext,
  { place }: Here,
  standing: Membership | undefined,
  quote: Quote | undefined,
): PlanSummaryPageProps['card'] {
  if (!standing?.card) return undefined;
  const card = cardName(standing.card);
  const text = t(quote?.dueCents === 0 ? 'checkout.cardLater' : 'checkout.card', { card });
  return { text, otherHref: place.addPayment };
}

/** What the form's button does: what is free is confirmed; what is paid asks for a card first, where there is none. */
function buttonOf({ t }: PageContext, { place }: Here, quote: Quote | undefined, card: boolean): string {
  if (quote?.when === 'now' && !card) return t('checkout.next');
  return t(place.kind === 'purchase' ? 'checkout.complete' : 'checkout.confirm');
}

/** What is said of a plan for which nothing is asked of Stripe. */
function freeNote({ lang, t }: PageContext, { deal, user }: Here, standing: Membership | undefined): string {
  if (deal) return t('checkout.dealNote');
  const until = standing?.paidUntil;
  if (user.planId === null || !standing?.paidPlanId || until == null) return t('checkout.freeNote');
  return t('checkout.freeLater', { date: formatDate(lang, until) });
}

/** What somebody is trying meanwhile. */
function leadOf(
  { lang, t }: PageContext,
  { membership, now }: CheckoutDeps,
  { deal }: Here,
  standing: Membership | undefined,
): string {
  if (deal) return t('checkout.dealLead');
  const until = standing ? trialUntil(standing) : null;
  if (until === null || until <= now()) return t('checkout.lead');
  return t('checkout.trialLead', { name: membership.catalogue.trial.name, date: formatDate(lang, until) });
}

/** Answers the summary of a plan: what it is, what is due today and later, the box for a promotion code, the way on. */
export async function sendSummary(
  deps: CheckoutDeps,
  req: Request,
  res: Response,
  here: Here,
  { quote: known, ...given }: Shown,
): Promise<void> {
  const { membership, pages } = deps;
  const { place, user, deal } = here;
  // The amount due now may be for a plan chosen in another tab: that plan's page says so.
  const address = known ? place.summaryOf(known.plan) : place.summary;
  const shown: Shown | undefined = pages.shownAt(req, res, address, given);
  if (!shown) return;
  const { status = 200, notice, promo } = shown;
  const { currency } = membership.catalogue;
  const { plan } = here;
  const standing = await membership.standing(user.id);
  const owned = user.planId === plan.id;
  // A partner's plan is for life: nobody gives it away for a free one.
  const covered = plan.kind === 'free' && membership.catalogue.byId(standing?.basePlanId)?.kind === 'partner';
  const waits = plan.kind === 'paid' && !owned;
  let quote: Quote | undefined;
  if (waits && status !== 503) {
    const again = (away: Again) => sendSummary(deps, req, res, here, { ...away, ...(promo && { promo }) });
    const asked = await unlessAway(deps, req, res, { act: 'quote', again }, () => quoteOf(deps, here));
    if (!asked) return;
    quote = asked.value;
  }
  const { authorization } = place.errand;
  const waiting = authorization === undefined ? undefined : await deps.pendingRequest(req, authorization);
  const chosen = quote ? quote.promotion : here.promotion;
  const unfinished = waits && here.purchase?.state === 'charging';
  const props = (ctx: PageContext): PlanSummaryPageProps => {
    const card = waits ? savedCard(ctx, here, standing, quote) : undefined;
    return {
      ctx: withErrand(ctx, place.errand.search),
      steps: place.kind,
      action: place.summary,
      plan: shownPlan(ctx, plan, currency),
      lead: leadOf(ctx, deps, here, standing),
      cancelHref: place.cancel(user),
      ...(!deal && { changeHref: place.changePlan }),
      ...(waiting && { clientName: waiting.clientName }),
      ...(notice
        ? { notice }
        : unfinished && { notice: { kind: 'info', text: ctx.t('checkout.unfinished'), duration: 'never' } }),
      ...(quote && { quote: shownQuote(ctx, quote, currency) }),
      ...(!waits && !owned && !covered && { quote: { lines: [], note: freeNote(ctx, here, standing) } }),
      // While a payment is under way its code stays as it is; where nothing is due today there is nothing to take off.
      ...(waits && !unfinished && (quote?.when !== 'later' || promo) && { promo: promoBox(plan, chosen, promo) }),
      ...(card && { card }),
      ...(owned || covered
        ? { has: ctx.t(owned ? 'checkout.owned' : 'checkout.covered') }
        : waits && !quote
          ? { retryHref: place.summary }
          : { button: buttonOf(ctx, here, quote, card !== undefined), hidden: hiddenOf(plan, quote, deal) }),
    };
  };
  pages.send(req, res, status, (ctx) => createElement(PlanSummaryPage, props(ctx)), {
    title: (ctx) => planLine(ctx.t, plan),
    address: place.summary,
  });
}

function promoBox(
  { id }: Plan,
  chosen: ChosenPromotion | null,
  promo: Shown['promo'],
): NonNullable<PlanSummaryPageProps['promo']> {
  if (chosen) return { planId: id, applied: chosen.code };
  return { planId: id, typed: promo?.typed ?? '', error: promo?.error };
}

/** What the form carries: what its page announced, and nothing that is believed. */
function hiddenOf(plan: Plan, quote: Quote | undefined, deal: boolean): Record<string, string> {
  if (quote) return announcing(quote);
  return { planId: plan.id, ...(!deal && { act: 'free' }) };
}
