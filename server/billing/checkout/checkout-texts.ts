import { formatAmount, formatDate } from '../../../views/format.ts';
import type { NoticeKind } from '../../../views/parts/notice.tsx';
import type { NoticeDuration } from '../../../views/parts/notice-durations.ts';
import type { T } from '../../http/index.ts';
import { minuteMs } from '../../shared/index.ts';
import type { PendingRenewal, PromotionRefusal, Quote } from '../results.ts';
import { type Decline, declineReasons } from '../stripe/stripe-objects.ts';
import type { TextContext } from './plan-view.ts';

export interface PageNotice {
  kind: NoticeKind;
  title?: string;
  text: string;
  duration: NoticeDuration;
  link?: { href: string; label: string };
}

/** The request that Stripe did not answer. */
export type StripeAction = 'customer' | 'update' | 'quote' | 'confirm';

/** The specification's section 8 has a message for each; the user can continue later. */
export function unavailableNotice(t: T, act: StripeAction): PageNotice {
  const title = t(`checkout.unavailable.${act}`);
  // The specification's 2.5 seconds; the page shows the next step too.
  const duration = act === 'customer' ? 'short' : 'never';
  return { kind: 'error', title, text: t('checkout.unavailable.text'), duration };
}

/** Nothing is sold without its tax, which depends on the place. */
export const placeNotice = (t: T): PageNotice => ({
  kind: 'error',
  title: t('checkout.place.title'),
  text: t('checkout.place.text'),
  duration: 'never',
});

/** The reason that a payment was refused. Stripe says the less frequent ones in English alone. */
export function refusalText({ lang, t }: TextContext, { message, reason }: Decline): string {
  if (reason !== undefined) return t(`payment.refused.${reason}`);
  return (lang === 'en' && message) || t('payment.refused.other');
}

/** The texts of the reasons by Stripe's codes, for a refusal that Stripe tells the browser. */
export const refusalTexts = (t: T): Record<string, string> =>
  Object.fromEntries(
    Object.entries(declineReasons).flatMap(([code, reason]) =>
      // Stripe's field says itself what is wrong while it is typed, in the language of the page.
      code.startsWith('invalid_') ? [] : [[code, t(`payment.refused.${reason}`)]],
    ),
  );

/** The saved card has had its free days, or the method has none; undefined: the plan has none anyway. */
export function refusedTrialNotice(
  { lang, t }: TextContext,
  { plan, trial, dueCents }: Quote,
  currency: string,
): PageNotice | undefined {
  if (!trial || !('refused' in trial)) return undefined;
  const title = t(`checkout.planTrial.refused.${trial.refused}Title`);
  const amount = formatAmount(lang, dueCents, { currency });
  const text = t(`checkout.planTrial.refused.${trial.refused}`, { plan: plan.name, amount });
  return { kind: 'info', title, text, duration: 'never' };
}

/** Which attempts were too many, and when the next one is possible. */
export const tooManyText = (t: T, attempts: 'pay' | 'card' | 'promo' | 'gift', retryAfterMs: number): string =>
  t(`checkout.tooMany.${attempts}`, { count: Math.max(1, Math.ceil(retryAfterMs / minuteMs)) });

/** An upgrade waits for the renewal that is being charged. */
export function renewalNotice(
  { lang, t }: TextContext,
  { amountCents, currency, changeableAt }: PendingRenewal,
): PageNotice {
  const amount = formatAmount(lang, amountCents, { currency });
  const text =
    changeableAt === null
      ? t('checkout.renewingHeld', { amount })
      : t('checkout.renewing', { amount, time: formatDate(lang, changeableAt, 'dateTime') });
  return { kind: 'info', text, duration: 'never' };
}

/** Text, status and place for a promotion code that was not applied (sections 5 and 8). */
export function promotionErrorText(
  { lang, t }: TextContext,
  refusal: PromotionRefusal,
  currency: string,
): { status: number; error?: string; notice?: PageNotice } {
  switch (refusal.kind) {
    case 'unknown':
      return { status: 400, error: t('checkout.promo.unknown') };
    case 'second':
      return { status: 409, notice: { kind: 'error', text: t('checkout.promo.second'), duration: 'never' } };
    case 'minimum': {
      const amount = formatAmount(lang, refusal.amountCents, { currency, wholes: true });
      return { status: 400, error: t('checkout.promo.minimum', { amount }) };
    }
    case 'nothing-due':
      return { status: 400, error: t('checkout.promo.nothingDue') };
    case 'expired':
      return { status: 400, error: t('checkout.promo.expired') };
    case 'used-up':
      return { status: 400, error: t('checkout.promo.usedUp') };
    case 'first-purchase-only':
      return { status: 400, error: t('checkout.promo.firstPurchase') };
    case 'not-for-this-plan':
      return { status: 400, error: t('checkout.promo.otherPlan') };
    case 'too-many':
      return { status: 429, error: tooManyText(t, 'promo', refusal.retryAfterMs) };
  }
}
