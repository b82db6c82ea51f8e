import type { PlanPrice, PlanView } from '../../../views/billing/checkout-plan-card.tsx';
import { formatAmount, formatDate } from '../../../views/format.ts';
import type { PageContext } from '../../../views/page-context.ts';
import type { T } from '../../http/index.ts';
import {
  type BillingPeriod,
  type Catalogue,
  ofOneSeat,
  type Plan,
  toPeriod,
  withSeats,
} from '../catalogue/catalogue.ts';
import { hasDebt, toEachCharge } from '../stripe/next-charge.ts';
import { smallestCharge, toChargeable } from '../stripe/stripe-objects.ts';
import type { Membership, NextCharge, SubscriptionPrice } from '../subscription/membership.ts';

/** The language of a page, and its texts. */
export type TextContext = Pick<PageContext, 'lang' | 't'>;

/** 'Growth, annual', and with the chosen seats 'Growth, annual, 5 seats' */
export function planLine(t: T, plan: Pick<Plan, 'name' | 'period' | 'chosenSeats'>): string {
  const line = periodLine(t, plan);
  const count = plan.chosenSeats;
  return count === undefined ? line : t('checkout.seats.line', { plan: line, count });
}

function periodLine(t: T, { name, period }: Pick<Plan, 'name' | 'period'>): string {
  switch (period?.interval) {
    case undefined:
      return name;
    case 'day':
      return t('checkout.lines.everyDays', { name, days: period?.count ?? 1 });
    case 'month':
      return t('checkout.lines.monthly', { name });
    case 'year':
      return t('checkout.lines.annual', { name });
  }
}

/** Until when the present plan stays; two intervals or seats of one plan are distinguished. */
export const keepsText = ({ t }: TextContext, { plan, next, date }: { plan: Plan; next: Plan; date: string }): string =>
  t('checkout.lines.keeps', { date, plan: plan.name === next.name ? planLine(t, plan) : plan.name });

/** The same after a row that names the day. */
export const keepsThenText = ({ t }: TextContext, { plan, next }: { plan: Plan; next: Plan }): string =>
  t('checkout.lines.keepsThen', { plan: plan.name === next.name ? planLine(t, plan) : plan.name });

/** 'a year' */
export function periodText(t: T, { interval, count }: BillingPeriod): string {
  if (interval === 'day') return t('checkout.perDays', { days: count });
  return t(interval === 'month' ? 'checkout.perMonth' : 'checkout.perYear');
}

/** '$5,000', 'a year' and 'plus VAT' if the catalogue has tax; undefined if the plan is never charged. */
export function planPrice(
  { lang, t }: TextContext,
  { kind, period, amountCents, seats, chosenSeats }: Plan,
  {
    currency,
    tax,
  }: Pick<Catalogue, 'currency'> & { tax: Pick<NonNullable<Catalogue['tax']>, 'behaviour'> | undefined },
): PlanPrice | undefined {
  if (period === null) return undefined;
  const amount = formatAmount(lang, amountCents, { currency, wholes: true });
  const hasTax = kind === 'paid' && tax !== undefined;
  const per = periodText(t, period);
  const isOfOne = seats !== null && chosenSeats === undefined;
  return {
    amount,
    per: isOfOne ? t('checkout.seats.each', { per }) : per,
    ...(hasTax && { tax: t(`checkout.tax.${tax.behaviour}`) }),
  };
}

/** '$5,000 a year, plus VAT' */
export const priceText = ({ amount, per, tax }: PlanPrice): string =>
  `${amount} ${per}${tax === undefined ? '' : `, ${tax}`}`;

/** A plan with the amount and the interval of the price on the user's subscription. */
export function asSubscribed(plan: Plan, price: SubscriptionPrice): Plan {
  return { ...plan, amountCents: price.amountCents, period: toPeriod(price) ?? plan.period };
}

/** Every further seat of the user's plan has the price that they pay, which may be older than the catalogue's. */
export function atOwnPrice(plan: Plan, membership: Membership | undefined): Plan {
  const own = plan.seats !== null && membership?.pricedPlanId === plan.id ? membership.price : null;
  return own ? asSubscribed(withSeats(plan, membership?.seats ?? 1), own) : plan;
}

/** The day of the first charge after a discount. */
export const firstRegularDay = (lang: TextContext['lang'], { firstRegularAt, discountEndsAt }: NextCharge): string =>
  formatDate(lang, firstRegularAt ?? discountEndsAt ?? 0);

/** The amounts after a discount has ended; none if they are unknown, or if it does not end. */
function regularText({ lang, t }: TextContext, next: NextCharge): string[] {
  const { discountEndsAt, regularCents, firstRegularCents: first, currency } = next;
  if (discountEndsAt === null || regularCents === null) return [];
  const money = (cents: number) => formatAmount(lang, cents, { currency });
  const [date, amount] = [formatDate(lang, discountEndsAt), money(regularCents)];
  if (first === undefined) return [t('checkout.lines.regular', { date, amount })];
  const day = firstRegularDay(lang, next);
  const key = day === date ? 'checkout.lines.regularAfter' : 'checkout.lines.regularOn';
  return [t(key, { date, amount, first: money(first), day })];
}

/** The tax of the whole charge: of the part that the credit pays, too. */
function taxText({ lang, t }: TextContext, next: NextCharge): string[] {
  const { amountCents, creditUsedCents, taxCents, currency } = next;
  // Nothing is charged then of which it could be a part.
  if (taxCents <= 0 || (amountCents <= 0 && creditUsedCents <= 0)) return [];
  const key = creditUsedCents > 0 ? 'checkout.lines.withTaxTogether' : 'checkout.lines.withTax';
  return [t(key, { amount: formatAmount(lang, taxCents, { currency }) })];
}

/**
 * The sentences after an announced charge: its tax, what credit pays besides, and its amount when the discount has ended
 * or a debt is paid.
 * @param tax `above`: the text before it says that it is included, and a row names rate and amount
 */
export function laterAmountsText({ lang, t }: TextContext, next: NextCharge, tax: 'here' | 'above' = 'here'): string {
  const { creditUsedCents, carriedCents = 0, isDiscountKept, currency } = next;
  const money = (cents: number) => formatAmount(lang, cents, { currency });
  const credit = creditUsedCents > 0 ? [t('checkout.lines.fromCredit', { amount: money(creditUsedCents) })] : [];
  const taxes = tax === 'here' ? taxText({ lang, t }, next) : [];
  const carried = carriedCents > 0 ? [t('checkout.lines.carried', { amount: money(carriedCents) })] : [];
  const regular = regularText({ lang, t }, next);
  const each = regular.length === 0 || isDiscountKept ? toEachCharge(next) : null;
  const isSmall = each !== null && toChargeable(each, currency) !== each;
  // A small rest of one charge alone is in the sentence before.
  const isNamed = hasDebt(next) || (isSmall && carriedCents > 0);
  const smallest = money(smallestCharge(currency));
  const then =
    each === null || !isNamed
      ? []
      : [t(isSmall ? 'checkout.lines.thenSmall' : 'checkout.lines.thenRegular', { amount: money(each), smallest })];
  return [...credit, ...taxes, ...carried, ...then, ...regular].map((sentence) => ` ${sentence}`).join('');
}

export function toPlanView(ctx: TextContext, plan: Plan, catalogue: Catalogue): PlanView {
  const price = planPrice(ctx, ofOneSeat(plan), catalogue);
  return {
    name: plan.name,
    summary: plan.summary(ctx.lang),
    features: plan.features(ctx.lang),
    ...(price && { price }),
  };
}
