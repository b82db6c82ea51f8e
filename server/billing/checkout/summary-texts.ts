import { cardName } from '../../../views/billing/card-name.ts';
import type { PlanSummaryPageProps } from '../../../views/billing/plan-summary-page.tsx';
import { listRefundsThen } from '../../../views/billing/refund-sentences.ts';
import { formatDate } from '../../../views/format.ts';
import type { Catalogue, Plan } from '../catalogue/catalogue.ts';
import type { BillingDetailsState, PendingRenewal, Quote } from '../results.ts';
import { findPaidEnd } from '../subscription/early-end.ts';
import { isDebit, type Membership } from '../subscription/membership.ts';
import { currentPaidPlan } from '../subscription/membership-state.ts';
import type { Checkout } from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { planLine, type TextContext } from './plan-view.ts';
import { orderText } from './quote-view.ts';
import type { EndOnNotice } from './refund-view.ts';
import { toRunningLead } from './trial-step.ts';
import { findTrialEnd } from './trial-view.ts';

// The sentences of a plan's summary.

/**
 * The relation of the user to the plan. `owned`: it is theirs. `covered`: it is free, and must not replace the partner's
 * plan that they have for life. `payable`: they can buy it. `without-payment`: they can take it.
 */
export type PlanStatus = 'owned' | 'covered' | 'payable' | 'without-payment';

/** The stored and the read data of the page. */
export interface SummaryFacts {
  checkout: Checkout;
  membership: Membership | undefined;
  planStatus: PlanStatus;
  /** The amounts of a payable plan; without them, they could not be read, or a renewal comes first. */
  quote: Quote | undefined;
  /** With a card it would be charged now. */
  isUpgrade: boolean;
  /** Of a payable plan. */
  details: BillingDetailsState | undefined;
  /** The renewal that the plan has to wait for. */
  renewal: PendingRenewal | undefined;
  /** Of a plan without payment: the end of the paid one on a month's notice, and its refund. */
  end: EndOnNotice | undefined;
}

type SummaryProps = Omit<PlanSummaryPageProps, 'ctx'>;

/** When the card is charged first if nothing is due today; null: unknown, or a discount or credit pays that charge. */
function findChargeTime(quote: Quote): number | null {
  if (!quote.next || quote.next.amountCents === 0) return null;
  return findTrialEnd(quote) ?? (quote.when === 'later' ? quote.startsAt : quote.renewsAt);
}

/** The card that is charged, unless the user enters another. */
export function savedCard(
  { lang, t }: TextContext,
  { checkout, membership, quote }: SummaryFacts,
): SummaryProps['card'] {
  if (!membership?.card) return undefined;
  const card = cardName(t, membership.card);
  const isLater = quote?.dueCents === 0;
  const at = isLater ? findChargeTime(quote) : null;
  const isTrial = isLater && at !== null && findTrialEnd(quote) !== undefined;
  // The row of a plan that begins later has named the day.
  const dated = at === null || quote?.when === 'later' ? undefined : formatDate(lang, at);
  const note = isTrial
    ? t('checkout.cardFromThen', { card })
    : dated === undefined
      ? t(isLater ? 'checkout.cardLater' : 'checkout.card', { card })
      : t('checkout.cardOn', { card, date: dated });
  const text = !isLater && isDebit(membership.card) ? `${note} ${t('payment.methods.debitTakes')}` : note;
  return { text, otherHref: checkout.flow.addPayment };
}

/** The text of the button: a free plan is confirmed; a paid one asks for a card first if there is none. */
export function buttonText(
  ctx: TextContext,
  { checkout, quote }: SummaryFacts,
  { hasCard, currency }: { hasCard: boolean; currency: string },
): string {
  const { t } = ctx;
  if (quote?.when === 'now' && !hasCard) return t('checkout.next');
  const order = quote && orderText(ctx, quote, currency);
  if (order !== undefined) return order;
  return t(checkout.flow.kind === 'purchase' ? 'checkout.complete' : 'checkout.confirm');
}

/** The note for a plan that does not need Stripe. */
export function freeNote(ctx: TextContext, { checkout: { deal, user }, membership, end }: SummaryFacts): string {
  const { lang, t } = ctx;
  if (deal) return t('checkout.dealNote');
  const until = end?.endsAt ?? (membership && findPaidEnd(membership));
  if (user.planId === null || !membership?.paidPlanId || until == null) return t('checkout.freeNote');
  return [t('checkout.freeLater', { date: formatDate(lang, until) }), ...(end ? listRefundsThen(ctx, end) : [])].join(
    ' ',
  );
}

/** The name of a plan that begins later: it changes the present one. */
export const findFollowing = ({ quote }: SummaryFacts) => (quote?.when === 'later' ? quote.plan.name : undefined);

/** Its notice says that the plan begins without free days: a note about a running trial would contradict it. */
export const saysNoTrial = ({ quote, hasNotice }: LeadFacts): boolean =>
  hasNotice && quote?.trial != null && 'refused' in quote.trial;

interface LeadFacts extends SummaryFacts {
  hasNotice: boolean;
}

/** The paid plan that ends today for a higher one. */
function upgradeLead(ctx: TextContext, catalogue: Catalogue, facts: SummaryFacts): string | undefined {
  const { membership, quote, isUpgrade } = facts;
  const current = membership && currentPaidPlan(catalogue, membership);
  if (!current || !isUpgrade || quote?.when !== 'now') return undefined;
  const { plan } = quote;
  if (current.id === plan.id && membership.seats != null && plan.chosenSeats !== undefined) {
    return ctx.t('checkout.seats.instead', { count: plan.chosenSeats, before: membership.seats });
  }
  const name = (one: Plan) => (current.name === plan.name ? planLine(ctx.t, one) : one.name);
  return ctx.t('checkout.upgradeLead', { current: name(current), plan: name(plan) });
}

/** A running trial or gift, else the chosen plan where nothing else names it. */
export function leadText(
  ctx: TextContext,
  { membership: { catalogue }, now }: CheckoutDeps,
  facts: LeadFacts,
): string | undefined {
  const { checkout, membership, planStatus, hasNotice } = facts;
  if (checkout.deal) return ctx.t('checkout.dealLead');
  const isOwn = planStatus === 'owned' || planStatus === 'covered';
  const isRunning = planStatus !== 'owned' && !saysNoTrial(facts);
  const running = isRunning ? toRunningLead(ctx, { catalogue, membership }, now()) : undefined;
  if (running !== undefined) return running;
  const upgrade = hasNotice || isOwn ? undefined : upgradeLead(ctx, catalogue, facts);
  if (upgrade !== undefined) return upgrade;
  const isNamed = hasNotice || isOwn || findFollowing(facts) !== undefined;
  return checkout.isChosen && !isNamed ? ctx.t('checkout.lead', { plan: planLine(ctx.t, checkout.plan) }) : undefined;
}

/** Why a higher plan starts with the next period: it is paid by debit, or the payment of the present one went back. */
export function laterNotice(
  { t }: TextContext,
  { membership, quote, isUpgrade }: SummaryFacts,
): Pick<SummaryProps, 'notice'> {
  if (!isUpgrade || quote?.when !== 'later') return {};
  const text = t(isDebit(membership?.card ?? null) ? 'checkout.debitLater' : 'checkout.returnedLater');
  return { notice: { kind: 'info', text, duration: 'never' } };
}
