import { formatAmount, formatDate } from '../../../views/format.ts';
import type { SummaryLine } from '../../../views/parts/summary-list.tsx';
import type { Plan } from '../catalogue/catalogue.ts';
import type { Quote } from '../results.ts';
import { hasDebt, toEachCharge } from '../stripe/next-charge.ts';
import type { NextCharge } from '../subscription/membership.ts';
import { firstRegularDay, laterAmountsText, periodText, type TextContext } from './plan-view.ts';

// A plan that begins with free days.

export interface QuoteView {
  lines: SummaryLine[];
  total: SummaryLine;
  /** The first charge that is to come, if none is due today. */
  later?: SummaryLine;
  /** The taxes in the total. */
  included: SummaryLine[];
  /** On later charges, then on the buyer's rights: a paragraph for each. */
  note: string[];
  /** The content of the present plan that a lower one does not give. */
  lost?: { label: string; items: readonly string[] };
}

/** The end of the free days; undefined: there are none. */
export const findTrialEnd = ({ trial }: Pick<Quote, 'trial'>): number | undefined =>
  trial && 'endsAt' in trial ? trial.endsAt : undefined;

/**
 * The words of its button: nothing is charged today, but the obligation begins (section 312j BGB; Directive 2011/83/EU,
 * article 8 (2)).
 */
export function trialOrderText(
  { lang, t }: TextContext,
  { plan, next, endsAt }: { plan: Plan; next: NextCharge; endsAt: number },
): string {
  const money = (cents: number) => formatAmount(lang, cents, { currency: next.currency });
  const first = next.amountCents === 0 ? next.firstRegularCents : undefined;
  const date =
    first === undefined
      ? formatDate(lang, next.amountCents === 0 ? (next.discountEndsAt ?? endsAt) : endsAt, 'short')
      : firstRegularDay(lang, next);
  const isEachTime = next.discountEndsAt === null && next.creditUsedCents === 0 && !hasDebt(next);
  const [each, once] =
    next.amountCents === 0
      ? [first === undefined ? (next.regularCents ?? toEachCharge(next)) : null, first ?? 0]
      : [isEachTime ? next.amountCents : null, next.amountCents];
  if (each === null || plan.period === null) return t('checkout.planTrial.orderOnce', { amount: money(once), date });
  return t('checkout.planTrial.order', { amount: money(each), per: periodText(t, plan.period), date });
}

/** Nothing today, and the first charge with its day. */
export function toTrialView(
  ctx: TextContext,
  plan: Plan,
  { next, total, endsAt }: { next: NextCharge; total: QuoteView['total']; endsAt: number },
): QuoteView {
  const { lang, t } = ctx;
  const date = formatDate(lang, endsAt, 'short');
  const amount = formatAmount(lang, next.amountCents, { currency: next.currency });
  const regular = formatAmount(lang, next.regularCents ?? next.amountCents, { currency: next.currency });
  const count = plan.trialDays ?? 0;
  const per = plan.period === null ? '' : periodText(t, plan.period);
  return {
    lines: [],
    total,
    later: { label: t('checkout.planTrial.firstOn', { date }), amount },
    included: [],
    note: [
      t('checkout.planTrial.lead', { count, amount: regular, per }) + laterAmountsText(ctx, next),
      t('checkout.planTrial.cancel'),
    ],
  };
}
