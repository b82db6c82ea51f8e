import type { PartnerDealPageProps } from '../../../views/billing/partner-deal-page.tsx';
import { listRefundsThen } from '../../../views/billing/refund-sentences.ts';
import { formatDate } from '../../../views/format.ts';
import type { T } from '../../http/index.ts';
import type { User } from '../../users/index.ts';
import { type Catalogue, findGiven, type Plan } from '../catalogue/catalogue.ts';
import { findPaidEnd } from '../subscription/early-end.ts';
import type { Membership } from '../subscription/membership.ts';
import { findRenewingMembership, trialUntil } from '../subscription/membership-state.ts';
import { planLine, planPrice, priceText, type TextContext } from './plan-view.ts';
import type { EndOnNotice } from './refund-view.ts';

/** The user's plan when the partner's plan is offered, and the effect of Confirm on it. */
export type HasNow =
  | { kind: 'nothing' }
  | { kind: 'plan'; plan: Plan }
  | { kind: 'trial'; name: string }
  /** Kept until the end of the paid period. */
  | { kind: 'paid'; plan: Plan; untilMs: number; end?: EndOnNotice };

/** @param membership including decisions that Stripe has not confirmed */
export function hasNow(
  { catalogue, nowMs }: { catalogue: Catalogue; nowMs: number },
  user: Pick<User, 'planId'>,
  membership: Membership | undefined,
): HasNow {
  const plan = catalogue.byId(user.planId);
  const gift = membership && findGiven(membership, catalogue, nowMs);
  if (plan && gift?.plan === plan) return { kind: 'paid', plan, untilMs: gift.until };
  if (plan?.kind === 'paid' && membership) {
    // An unpaid renewal ends at once; a subscription that is set to end is kept until then.
    const running = findRenewingMembership(membership, catalogue, nowMs);
    const until = findPaidEnd(membership) ?? membership.periodEnd;
    if (!running?.unpaid && until !== null && until > nowMs) return { kind: 'paid', plan, untilMs: until };
  }
  if (plan) return { kind: 'plan', plan };
  const trial = membership && trialUntil(membership);
  return trial != null && trial > nowMs ? { kind: 'trial', name: catalogue.trial.name } : { kind: 'nothing' };
}

const againDays = 7;

/** The interval of a free plan is meaningless to users. */
const toName = (t: T, plan: Plan) => (plan.kind === 'paid' ? planLine(t, plan) : plan.name);

function toLead({ t, lang }: TextContext, plan: string, has: HasNow): string {
  switch (has.kind) {
    case 'nothing':
      return t('checkout.partnerDeal.lead', { plan });
    case 'plan':
      return t('checkout.partnerDeal.overFree', { plan, current: has.plan.name });
    case 'trial':
      return t('checkout.partnerDeal.overTrial', { plan, current: has.name });
    case 'paid': {
      const date = formatDate(lang, has.untilMs);
      const lead = t('checkout.partnerDeal.afterPaid', { plan, current: has.plan.name, date });
      return [lead, ...(has.end ? listRefundsThen({ t }, has.end) : [])].join(' ');
    }
  }
}

function toPrice(ctx: TextContext, plan: Plan, catalogue: Catalogue): string {
  const { t } = ctx;
  if (plan.kind !== 'paid') return t(plan.kind === 'free' ? 'membership.plan.free' : 'membership.plan.lifetime');
  const price = planPrice(ctx, plan, catalogue);
  return price ? priceText(price) : '';
}

/** Both plans with name, price and dates. */
export function shownDeal(
  ctx: TextContext,
  { catalogue, plan, has }: { catalogue: Catalogue; plan: Plan; has: HasNow },
): NonNullable<PartnerDealPageProps['deal']> {
  const { t, lang } = ctx;
  // Two cards share the width: a long date would break.
  const date = has.kind === 'paid' ? formatDate(lang, has.untilMs, 'short') : undefined;
  const until = date === undefined ? t('checkout.partnerDeal.untilToday') : t('checkout.partnerDeal.until', { date });
  const about = { label: t('checkout.partnerDeal.now'), when: until };
  const now =
    has.kind === 'nothing'
      ? []
      : has.kind === 'trial'
        ? [{ ...about, name: has.name, price: t('membership.plan.free') }]
        : [{ ...about, name: toName(t, has.plan), price: toPrice(ctx, has.plan, catalogue) }];
  const bought = {
    label: t('checkout.partnerDeal.bought'),
    name: plan.name,
    price: t('membership.plan.lifetime'),
    when: date === undefined ? t('checkout.partnerDeal.fromToday') : t('checkout.partnerDeal.from', { date }),
  };
  const features = plan.features(lang);
  return {
    lead: toLead(ctx, plan.name, has),
    features: features.length > 0 ? features : [plan.summary(lang)],
    sides: [...now, bought],
    fields: { planId: plan.id, ...(has.kind === 'paid' && has.end?.fields) },
    againDays,
  };
}
