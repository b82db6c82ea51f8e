import { formatAmount, formatDate } from '../../../views/format.ts';
import type { SummaryLine } from '../../../views/parts/summary-list.tsx';
import type { RequestContext } from '../../http/index.ts';
import { type PlanId, toPlanId } from '../../shared/index.ts';
import type { DisplayedQuote, Quote } from '../results.ts';
import type { Checkout } from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { planLine, type TextContext } from './plan-view.ts';

/** The current amount for the plan. @throws {StripeUnavailableError} */
export function loadQuote(
  { membership }: Pick<CheckoutDeps, 'membership'>,
  { user, plan, promotion }: Checkout,
): Promise<Quote> {
  return membership.quote(user, plan, promotion);
}

/** The announced amount from the form; it is compared, never used. */
export function readDisplayedQuote(r: RequestContext): DisplayedQuote {
  const due = r.field('dueCents');
  // No page announces a negative amount: invalid input never matches.
  return { planId: readPlanId(r), dueCents: /^\d{1,9}$/.test(due) ? Number(due) : -1 };
}

/** The same, for the page's form. */
export const quoteFields = ({ plan, dueCents }: Pick<Quote, 'plan' | 'dueCents'>): Record<string, string> => ({
  planId: plan.id,
  dueCents: String(dueCents),
});

export interface QuoteView {
  lines: SummaryLine[];
  total: SummaryLine;
  /** Later charges. */
  note: string;
}

/**
 * The words of a button that obliges to pay: the amount, and when it is charged. Undefined: nothing is ever charged.
 * The German words are those of section 312j BGB, the others those of Directive 2011/83/EU, article 8 (2).
 */
export function orderText({ lang, t }: TextContext, quote: Quote, currency: string): string | undefined {
  const { when, dueCents, laterCents, startsAt, renewsAt } = quote;
  if (dueCents > 0) return t('checkout.pay', { amount: formatAmount(lang, dueCents, { currency }) });
  if (laterCents === 0) return undefined;
  const at = when === 'later' ? startsAt : renewsAt;
  const amount = formatAmount(lang, laterCents, { currency });
  return at === null ? t('checkout.pay', { amount }) : t('checkout.payLater', { amount, date: formatDate(lang, at) });
}

/** The amounts due today and later, as text. */
export function toQuoteView({ lang, t }: TextContext, quote: Quote, currency: string): QuoteView {
  const formatMoney = (cents: number) => formatAmount(lang, cents, { currency });
  const less = (label: string, cents: number): SummaryLine[] =>
    cents > 0 ? [{ label, amount: `−${formatMoney(cents)}`, saves: true }] : [];
  const { plan, when, amountCents, discountCents, discountCode, unusedCents, usedCreditCents, dueCents, laterCents } =
    quote;
  const total = { label: t('checkout.lines.due'), amount: formatMoney(dueCents) };
  if (when === 'later') {
    const date = formatDate(lang, quote.startsAt);
    return {
      lines: [{ label: planLine(t, plan), amount: formatMoney(laterCents) }],
      total,
      note: `${t('checkout.lines.later', { date, name: plan.name, amount: formatMoney(laterCents) })} ${t('checkout.lines.cancel')}`,
    };
  }
  const date = quote.renewsAt === null ? undefined : formatDate(lang, quote.renewsAt);
  const amount = formatMoney(laterCents);
  const takenOff = discountCents + unusedCents + usedCreditCents;
  // Within a paid period, a higher plan is charged for the rest of the period.
  const soldCents = Math.min(amountCents, dueCents + takenOff);
  const line = planLine(t, plan);
  const label = soldCents < amountCents && date !== undefined ? t('checkout.lines.rest', { plan: line, date }) : line;
  const leftCents = dueCents + takenOff - soldCents;
  return {
    lines: [
      { label, amount: formatMoney(soldCents) },
      ...less(t('checkout.lines.promo', { code: discountCode ?? '' }), discountCents),
      ...less(t('checkout.lines.unused'), unusedCents),
      ...less(t('checkout.lines.credit'), usedCreditCents),
      ...(leftCents > 0 ? [{ label: t('checkout.lines.left'), amount: formatMoney(leftCents) }] : []),
    ],
    total,
    note: `${date === undefined ? t('checkout.lines.renewsUndated', { amount }) : t('checkout.lines.renews', { date, amount })} ${t('checkout.lines.cancel')}`,
  };
}

/** The plan in the form; '' if there is none. */
export const readPlanId = (r: RequestContext): PlanId => toPlanId(r.field('planId'));
