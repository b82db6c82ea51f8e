import type { PlanView } from '../../../views/billing/checkout-plan-card.tsx';
import { formatAmount } from '../../../views/format.ts';
import type { PageContext } from '../../../views/page-context.ts';
import type { T } from '../../http/index.ts';
import type { Plan } from '../catalogue/catalogue.ts';

/** The language of a page, and its texts. */
export type TextContext = Pick<PageContext, 'lang' | 't'>;

/** 'Growth, annual' */
export function planLine(t: T, { name, type }: Pick<Plan, 'name' | 'type'>): string {
  if (type === null) return name;
  return t(type === '1' ? 'checkout.lines.monthly' : 'checkout.lines.annual', { name });
}

/** '$5,000' and 'a year'; undefined if it is never charged. */
export function planPrice(
  { lang, t }: TextContext,
  { kind, type, amountCents }: Plan,
  currency: string,
): { amount: string; per: string } | undefined {
  if (kind === 'partner') return undefined;
  const amount = formatAmount(lang, amountCents, { currency, wholes: true });
  return { amount, per: t(type === '1' ? 'checkout.perMonth' : 'checkout.perYear') };
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
