import type { BeginBoxProps } from '../../../views/billing/begin-box.tsx';
import { capitalized, formatAmount, formatDate } from '../../../views/format.ts';
import type { SummaryLine } from '../../../views/parts/summary-list.tsx';
import { type Catalogue, needsRequestToBegin, type Plan, planRank } from '../catalogue/catalogue.ts';
import type { Quote } from '../results.ts';
import { hasDebt, toEachCharge } from '../stripe/next-charge.ts';
import type { AmountLine } from '../stripe/stripe-invoices.ts';
import { toLaterAmounts } from '../subscription/membership.ts';
import type { Checkout } from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import {
  firstRegularDay,
  keepsThenText,
  laterAmountsText,
  periodText,
  planLine,
  type TextContext,
} from './plan-view.ts';
import { findTrialEnd, type QuoteView, toTrialView, trialOrderText } from './trial-view.ts';

/** The current amount for the plan. @throws {StripeUnavailableError} */
export function loadQuote(
  { membership }: Pick<CheckoutDeps, 'membership'>,
  { user, plan, promotion }: Checkout,
): Promise<Quote> {
  return membership.quoteOnPage(user, plan, promotion);
}

/**
 * The words of a button that obliges to pay: the amount, and when it is charged. Undefined: nothing is ever charged.
 * The German words are those of section 312j BGB, the others those of Directive 2011/83/EU, article 8 (2).
 */
export function orderText({ lang, t }: TextContext, quote: Quote, currency: string): string | undefined {
  const { when, dueCents, next, startsAt, renewsAt } = quote;
  const money = (cents: number) => formatAmount(lang, cents, { currency });
  if (dueCents > 0) return t('checkout.pay', { amount: money(dueCents) });
  if (next === null) return undefined;
  const endsAt = findTrialEnd(quote);
  if (endsAt !== undefined) return trialOrderText({ lang, t }, { plan: quote.plan, next, endsAt });
  if (next.amountCents === 0) return laterOrderText({ lang, t }, quote, money);
  const at = when === 'later' ? startsAt : renewsAt;
  const amount = money(next.amountCents);
  if (at === null) return t('checkout.pay', { amount });
  // 'from' would say that each later charge is this one.
  const isEachTime = next.discountEndsAt === null && next.creditUsedCents === 0 && !hasDebt(next);
  const per = isEachTime ? eachPeriodText({ t }, quote) : undefined;
  const date = formatDate(lang, at, 'short');
  return per === undefined ? t('checkout.payOnce', { amount, date }) : t('checkout.payLater', { amount, per, date });
}

/** 'a month', of the charges to come; undefined: after the first they have another period. */
function eachPeriodText({ t }: Pick<TextContext, 't'>, { when, plan, following }: Quote): string | undefined {
  if (when === 'later' && following) return undefined;
  const { period } = following ?? plan;
  return period === null ? undefined : periodText(t, period);
}

/** The same if a discount or credit pays the next charge, too: the charges after it are owed all the same. */
function laterOrderText({ lang, t }: TextContext, quote: Quote, money: (cents: number) => string): string | undefined {
  const { plan, next } = quote;
  if (next === null) return undefined;
  const { regularCents, firstRegularCents: first, discountEndsAt } = next;
  if (discountEndsAt !== null) {
    if (first !== undefined) return t('checkout.payOnce', { amount: money(first), date: firstRegularDay(lang, next) });
    const date = formatDate(lang, discountEndsAt, 'short');
    const per = eachPeriodText({ t }, quote);
    // The tax of the whole amount is not known yet.
    if (regularCents === null || per === undefined) return t('checkout.payFrom', { date });
    return t('checkout.payLater', { amount: money(regularCents), per, date });
  }
  const cents = toEachCharge(next) ?? 0;
  if (cents <= 0 || plan.period === null) return undefined;
  return t('checkout.payPeriod', { amount: money(cents), per: periodText(t, plan.period) });
}

/** 'VAT 19%' */
function taxName({ lang, t }: TextContext, { tax }: AmountLine): string {
  const name = tax?.rate?.name ?? t('checkout.lines.tax');
  if (tax?.isReverseCharge) return t('checkout.lines.reverseCharge', { tax: name });
  if (!tax?.rate) return name;
  const percent = new Intl.NumberFormat(lang, { style: 'percent', maximumFractionDigits: 4 });
  return t('checkout.lines.taxAt', { tax: name, percent: percent.format(tax.rate.percent / 100) });
}

/** The label of a line. */
function toLineLabel({ lang, t }: TextContext, quote: Quote, line: AmountLine): string {
  const plan = planLine(t, quote.plan);
  switch (line.kind) {
    case 'plan':
      return plan;
    case 'rest':
      return quote.renewsAt === null
        ? plan
        : t('checkout.lines.rest', { plan, date: formatDate(lang, quote.renewsAt) });
    case 'other':
      return line.text || t('checkout.lines.other');
    case 'promo':
      return quote.discountCode === undefined
        ? t('checkout.lines.discount')
        : t('checkout.lines.promo', { code: quote.discountCode });
    case 'tax':
      return capitalized(lang, taxName({ lang, t }, line));
    default:
      return t(`checkout.lines.${line.kind}`);
  }
}

/** The box above the button that orders; undefined: nothing is owed for the days until a withdrawal. */
export function toBeginBox(
  { t }: TextContext,
  quote: Quote,
  { catalogue, isMissing }: { catalogue: Catalogue; isMissing: boolean },
): BeginBoxProps | undefined {
  const { withdrawalDays: count } = catalogue;
  if (count === undefined || !needsRequestToBegin(catalogue, quote)) return undefined;
  return { label: t('checkout.beginAtOnce', { count }), missing: t('checkout.beginMissing', { count }), isMissing };
}

type WithdrawalRule = 'withdrawalDays' | 'withdrawalRefund';

/** The right to withdraw from the purchase. */
function withdrawalText(
  { t }: TextContext,
  quote: Quote,
  { withdrawalDays: count, withdrawalRefund }: Pick<Catalogue, WithdrawalRule>,
): string[] {
  if (count === undefined || !quote.isNewContract) return [];
  const isShared = needsRequestToBegin({ withdrawalDays: count, withdrawalRefund }, quote);
  return [t(isShared ? 'checkout.lines.withdrawProrated' : 'checkout.lines.withdraw', { count })];
}

interface QuoteRules extends Pick<Catalogue, 'currency' | 'plans' | 'afterYear' | WithdrawalRule> {
  /** The name of the trial that ends today. */
  endedTrial?: string | undefined;
  /** The present plan, which a later one replaces. */
  current?: Plan | undefined;
}

/** The notes below a total: the charges to come, then the buyer's rights. */
const toParagraphs = (...groups: readonly string[][]): string[] =>
  groups.map((sentences) => sentences.join(' ').trim()).filter(Boolean);

/** That the present plan stays until the day of the row above, and what of it a lower one does not give. */
function replacedTexts(
  ctx: TextContext,
  { plan }: Pick<Quote, 'plan'>,
  { plans, current }: QuoteRules,
): Pick<QuoteView, 'note' | 'lost'> {
  const { lang, t } = ctx;
  const { name } = plan;
  if (!current) return { note: [t('checkout.lines.begins', { name })] };
  const included = new Set(plan.features(lang));
  const isLower = planRank({ plans }, plan) < planRank({ plans }, current);
  const lost = isLower ? current.features(lang).filter((feature) => !included.has(feature)) : [];
  return {
    note: [keepsThenText(ctx, { plan: current, next: plan })],
    ...(lost.length > 0 && { lost: { label: t('checkout.lines.lost', { name }), items: lost } }),
  };
}

/** The renewal, with what is charged then. Rate and amount of its tax are in the row of today's, if there is one. */
function renewalText(ctx: TextContext, { renewsAt, following, next, ...quote }: Quote, amount: string): string {
  const { lang, t } = ctx;
  const more = (tax: 'here' | 'above') => (next ? laterAmountsText(ctx, next, tax) : '');
  if (renewsAt === null) return t('checkout.lines.renewsUndated', { amount }) + more('here');
  const date = formatDate(lang, renewsAt);
  if (following) return t('checkout.lines.byMonth', { date, amount }) + more('here');
  const taxes = [...quote.lines.filter(({ kind }) => kind === 'tax'), ...quote.includedTaxes];
  const isTaxed = next !== null && next.taxCents > 0 && next.amountCents > 0 && next.creditUsedCents === 0;
  return isTaxed && taxes.some(({ cents }) => cents > 0)
    ? t('checkout.lines.renewsTaxed', { date, amount }) + more('above')
    : t('checkout.lines.renews', { date, amount }) + more('here');
}

/** The amounts due today and later, as text. */
export function toQuoteView(ctx: TextContext, quote: Quote, { endedTrial, ...rules }: QuoteRules): QuoteView {
  const { currency, afterYear } = rules;
  const { lang, t } = ctx;
  const formatMoney = (cents: number) => formatAmount(lang, cents, { currency });
  const { plan, when, dueCents, next } = quote;
  const total = { label: t('checkout.lines.due'), amount: formatMoney(dueCents) };
  const amount = formatMoney(next?.amountCents ?? 0);
  const onNotice =
    afterYear === 'year-with-refund' && plan.kind === 'paid' && plan.type === '2' ? [t('checkout.lines.onNotice')] : [];
  const endsAt = findTrialEnd(quote);
  if (endsAt !== undefined && next) return toTrialView(ctx, quote.plan, { next, total, endsAt });
  if (when === 'later') {
    const date = formatDate(lang, quote.startsAt);
    const replaced = replacedTexts(ctx, quote, rules);
    return {
      lines: [],
      total,
      later: { label: t('checkout.lines.from', { plan: planLine(t, plan), date }), amount },
      included: [],
      note: toParagraphs(
        // They follow the amount.
        [next ? laterAmountsText(ctx, next) : ''],
        [...replaced.note, ...(quote.following ? [t('checkout.lines.thenByMonth')] : [])],
        [t('checkout.lines.cancelAnyTime'), ...onNotice],
      ),
      ...(replaced.lost && { lost: replaced.lost }),
    };
  }
  const toLine = (line: AmountLine): SummaryLine => ({
    label: toLineLabel(ctx, quote, line),
    amount: `${line.cents < 0 ? '−' : ''}${formatMoney(Math.abs(line.cents))}`,
    // An amount that is charged later is no saving.
    ...(line.cents < 0 && line.kind !== 'small' && { saves: true }),
    ...(line.kind === 'promo' && quote.discountCode !== undefined && { code: quote.discountCode }),
  });
  return {
    lines: quote.lines.map(toLine),
    total,
    included: quote.includedTaxes.map((line) => ({
      label: line.tax?.isReverseCharge
        ? capitalized(lang, taxName(ctx, line))
        : t('checkout.lines.included', { tax: taxName(ctx, line) }),
      amount: formatMoney(line.cents),
    })),
    note: toParagraphs(
      endedTrial === undefined ? [] : [t('checkout.trialEnds', { name: endedTrial })],
      [renewalText(ctx, quote, amount), t('checkout.lines.cancelAnyTime')],
      [...onNotice, ...withdrawalText(ctx, quote, rules)],
    ),
  };
}

/** The announced amount, for the page's form: `readDisplayedQuote` reads it. */
export const quoteFields = ({ plan, dueCents, next, trial }: Pick<Quote, 'plan' | 'dueCents' | 'next' | 'trial'>) => ({
  planId: plan.id,
  ...(plan.chosenSeats !== undefined && { seats: String(plan.chosenSeats) }),
  dueCents: String(dueCents),
  laterCents: toLaterAmounts(next),
  ...(trial && 'endsAt' in trial && { trialEnd: String(trial.endsAt) }),
});
