import type { PlanView } from '../../../views/billing/checkout-plan-card.tsx';
import { formatAmount } from '../../../views/format.ts';
import type { PageContext } from '../../../views/page-context.ts';
import type { T } from '../../http/index.ts';
import type { BillingPeriod, Plan } from '../catalogue/catalogue.ts';

/** The language of a page, and its texts. */
export type TextContext = Pick<PageContext, 'lang' | 't'>;

/** 'Growth, annual' */
export function planLine(t: T, { name, period }: Pick<Plan, 'name' | 'period'>): string {
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

/** 'a year' */
export function periodText(t: T, { interval, count }: BillingPeriod): string {
  if (interval === 'day') return t('checkout.perDays', { days: count });
  return t(interval === 'month' ? 'checkout.perMonth' : 'checkout.perYear');
}

/** '$5,000' and 'a year'; undefined if it is never charged. */
export function planPrice(
  { lang, t }: TextContext,
  { period, amountCents }: Plan,
  currency: string,
): { amount: string; per: string } | undefined {
  if (period === null) return undefined;
  const amount = formatAmount(lang, amountCents, { currency, wholes: true });
  return { amount, per: periodText(t, period) };
}

export function toPlanView(ctx: TextContext, plan: Plan, currency: string): PlanView {
  const price = planPrice(ctx, plan, currency);
  return {
    name: plan.name,
    summary: plan.summary(ctx.lang),
    features: plan.features(ctx.lang),
    ...(price && { price }),
  };
}
