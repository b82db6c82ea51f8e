import { loadPlans } from '../../../config/plans.ts';
import { createCatalogue } from '../../../server/billing/catalogue/catalogue.ts';
import { shownDeal } from '../../../server/billing/checkout/deal-shown.ts';
import { planLine, toPlanView } from '../../../server/billing/checkout/plan-view.ts';
import { toQuoteView } from '../../../server/billing/checkout/quote-view.ts';
import { ChangePlanPage } from '../../../views/billing/change-plan-page.tsx';
import { CompletedPage, PayingPage } from '../../../views/billing/completed-page.tsx';
import { GiftPage } from '../../../views/billing/gift-page.tsx';
import { PartnerDealPage } from '../../../views/billing/partner-deal-page.tsx';
import { PlanSummaryPage } from '../../../views/billing/plan-summary-page.tsx';
import { TrialStepPage } from '../../../views/billing/trial-step-page.tsx';
import { formatAmount } from '../../../views/format.ts';
import type { PageContext } from '../../../views/page-context.ts';
import { toPlanId } from '../../support/ids.ts';
import type { Sample } from './context.ts';

const catalogue = createCatalogue(loadPlans());
const dayMs = 24 * 60 * 60_000;
const todayMs = Date.UTC(2026, 10, 20);

/** The step PLAN at its places, in the states that differ. */
export function checkoutSamples(ctx: PageContext): Record<string, Sample> {
  const { t, lang } = ctx;
  const plan = (id: string) => catalogue.byId(toPlanId(id)) ?? catalogue.defaultPlan;
  const shown = (id: string) => toPlanView(ctx, plan(id), catalogue);
  const promotion = {
    typed: 'welcome20',
    code: 'WELCOME20',
    couponId: 'c',
    promotionCodeId: 'p',
    percentOff: 20,
    amountOffCents: null,
    duration: 'once' as const,
    endsAt: null,
  };
  const quote = {
    plan: plan('13'),
    when: 'now' as const,
    amountCents: 500_000,
    discountCents: 0,
    unusedCents: 0,
    usedCreditCents: 0,
    includedTaxes: [],
    dueCents: 500_000,
    lines: [{ kind: 'plan' as const, cents: 500_000 }],
    next: {
      amountCents: 500_000,
      regularCents: 500_000,
      discountCents: 0,
      discountEndsAt: null,
      taxCents: 0,
      creditUsedCents: 0,
      currency: 'usd',
      at: todayMs + 365 * dayMs,
    },
    promotion: null,
    startsAt: todayMs,
    renewsAt: todayMs + 365 * dayMs,
  };
  const summary = {
    ctx,
    steps: 'sign-up' as const,
    action: '/signup/verifiedCode',
    plan: shown('13'),
    lead: t('checkout.trialLead', { name: 'Basic', date: '27 November 2026' }),
    changeHref: '/signup/changePlan',
    cancelHref: '/search',
    quote: toQuoteView(ctx, quote, catalogue),
    promo: { planId: '13', typed: '' },
    button: t('checkout.next'),
    hidden: { planId: '13', dueCents: '500000' },
  };
  const away = { kind: 'error' as const, text: t('checkout.unavailable.text'), duration: 'never' as const };
  const change = {
    ctx,
    steps: 'sign-up' as const,
    heading: t('checkout.change.heading'),
    action: '/signup/changePlan?type=2',
    periods: [
      { href: '/signup/changePlan?type=2', label: t('common.interval.annual'), current: true },
      { href: '/signup/changePlan?type=1', label: t('common.interval.monthly'), current: false },
    ],
    legend: t('checkout.change.annual'),
    trial: t('checkout.change.onTrial', { plan: 'Basic' }),
    plans: ['2', '11', '13', '15'].map((id) => ({
      value: id,
      title: plan(id).name,
      detail: plan(id).summary(lang),
      features: plan(id).features(lang),
      price: { amount: formatAmount(lang, plan(id).amountCents, { wholes: true }), per: t('checkout.perYear') },
      ...(id === '11' && { own: t('checkout.change.own') }),
      ...(id === '13' && {
        perMonth: t('checkout.change.perMonthBilledYearly', { amount: '$416.67' }),
        saving: t('checkout.change.saves', { amount: '16%' }),
        mark: t('checkout.change.popular'),
      }),
    })),
    value: '13',
    cancel: { href: '/signup/verifiedCode', label: t('checkout.cancel') },
  };
  const { quote: _, promo: __, button: ___, ...without } = summary;
  return {
    'trial-step': {
      page: (
        <TrialStepPage
          ctx={ctx}
          steps="sign-up"
          trial={{ name: 'Basic', features: catalogue.trial.features(lang), until: '27 November 2026' }}
          due={formatAmount(lang, 0)}
          clientName="Ledger & Sons"
          continueHref="/search"
          changeHref="/signup/changePlan"
          giftHref="/gift"
          notice={{ kind: 'success', text: t('signUp.confirmed.text'), duration: 'short' }}
        />
      ),
    },
    gift: {
      page: (
        <GiftPage
          ctx={ctx}
          action="/gift"
          code="7K2M-9QXD-4TRB"
          error={t('checkout.gift.unknown')}
          notice={{ kind: 'info', text: t('checkout.gift.refused.paying', { date: '27 November 2027' }) }}
          other={{ href: '/plan-purchase', label: t('membership.act.choose') }}
        />
      ),
    },
    'plan-summary': { page: <PlanSummaryPage {...summary} /> },
    'plan-summary-seats': {
      page: <PlanSummaryPage {...summary} seats={{ planId: '13', range: { min: 1, max: 50 }, typed: '5' }} />,
    },
    'plan-summary-promo': {
      page: (
        <PlanSummaryPage
          {...summary}
          steps="purchase"
          clientName="Ledger & Sons"
          quote={toQuoteView(
            ctx,
            {
              ...quote,
              dueCents: 395_000,
              lines: [
                { kind: 'plan', cents: 500_000 },
                { kind: 'promo', cents: -100_000 },
                { kind: 'unused', cents: -4_950 },
                { kind: 'credit', cents: -50 },
              ],
              promotion,
              discountCode: promotion.code,
            },
            catalogue,
          )}
          promo={{ planId: '13', applied: 'WELCOME20', isNew: true }}
          card={{ text: t('checkout.card', { card: 'Visa •••• 4242' }), otherHref: '/plan-purchase/13/addPayment' }}
          button={t('checkout.complete')}
        />
      ),
    },
    'plan-summary-refused': {
      page: (
        <PlanSummaryPage
          {...summary}
          steps="post-signup"
          notice={{ kind: 'error', text: t('checkout.promo.second'), duration: 'never' }}
          promo={{ planId: '13', typed: 'nonsense', error: t('checkout.promo.minimum', { amount: '$500' }) }}
        />
      ),
    },
    'plan-summary-later': {
      page: (
        <PlanSummaryPage
          {...without}
          steps="purchase"
          lead={t('checkout.lead', { plan: planLine(t, plan('13')) })}
          quote={toQuoteView(ctx, { ...quote, when: 'later', dueCents: 0 }, { ...catalogue, current: plan('15') })}
          button={t('checkout.complete')}
        />
      ),
    },
    'plan-summary-away': {
      page: (
        <PlanSummaryPage
          {...without}
          notice={{ ...away, title: t('checkout.unavailable.customer'), duration: 'short' }}
          retryHref="/signup/verifiedCode"
        />
      ),
    },
    'plan-summary-free': {
      page: (
        <PlanSummaryPage
          {...without}
          plan={shown('1')}
          quote={{ lines: [], note: [t('checkout.freeNote')] }}
          button={t('checkout.confirm')}
        />
      ),
    },
    'plan-summary-has': { page: <PlanSummaryPage {...without} steps="purchase" has={t('checkout.owned')} /> },
    'change-plan': { page: <ChangePlanPage {...change} /> },
    'change-plan-refused': {
      page: (
        <ChangePlanPage
          {...change}
          error={t('checkout.change.none')}
          notice={{ ...away, title: t('checkout.unavailable.update') }}
        />
      ),
    },
    'partner-deal': {
      page: (
        <PartnerDealPage
          ctx={ctx}
          action="/plan-purchase-appsumo/?plan=102"
          deal={shownDeal(ctx, { catalogue, plan: plan('102'), has: { kind: 'nothing' } })}
        />
      ),
    },
    'partner-deal-after-paid': {
      page: (
        <PartnerDealPage
          ctx={ctx}
          action="/plan-purchase-appsumo/?plan=102"
          deal={shownDeal(ctx, {
            catalogue,
            plan: plan('102'),
            has: { kind: 'paid', plan: plan('13'), untilMs: todayMs + 30 * dayMs },
          })}
        />
      ),
    },
    'partner-deal-none': {
      page: <PartnerDealPage ctx={ctx} action="/plan-purchase-appsumo/?plan=" otherHref="/plan-purchase" />,
    },
    'plan-completed': {
      page: (
        <CompletedPage
          ctx={ctx}
          resultText={t('checkout.completed.plan', { plan: 'Growth' })}
          continueUrl="https://apps.example/search"
        />
      ),
    },
    'plan-paying': { page: <PayingPage ctx={ctx} href="/plan-purchase/12" /> },
    'plan-completed-signed-out': { page: <CompletedPage ctx={ctx} signInHref="/" /> },
  };
}
