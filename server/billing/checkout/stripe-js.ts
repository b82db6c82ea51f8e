import type { StripeInPage } from '../../../views/billing/card-form.tsx';
import type { PolicyExtras } from '../../http/index.ts';
import { needsPaymentElement, type OfferedMethods } from '../cards/payment-methods.ts';
import { refusalTexts } from './checkout-texts.ts';
import type { TextContext } from './plan-view.ts';

/** How browsers reach Stripe. */
export interface StripeForBrowsers {
  publishableKey: string;
  /** Address of Stripe.js. */
  jsUrl: string;
  apiUrl: string;
  methods: OfferedMethods;
}

const stripeJsOrigin = 'https://js.stripe.com';

/**
 * The only sources that a page with Stripe.js may load besides its own (Stripe's security guide: content security
 * policy). If Stripe.js comes from another host, its frames do too.
 */
export function stripePolicy({ jsUrl, apiUrl }: Pick<StripeForBrowsers, 'jsUrl' | 'apiUrl'>): PolicyExtras {
  const origin = new URL(jsUrl).origin;
  const isStripe = origin === stripeJsOrigin;
  const scripts = isStripe ? [origin, 'https://*.js.stripe.com'] : [origin];
  return {
    scripts,
    frames: isStripe ? [...scripts, 'https://hooks.stripe.com'] : scripts,
    connects: [new URL(apiUrl).origin],
    // Stripe.js confirms payments and opens wallets in frames of its own.
    payments: [origin],
  };
}

/** The same for the page itself. @param currency of the catalogue */
export const stripeInPage = (
  { jsUrl, publishableKey, methods }: StripeForBrowsers,
  { lang, t }: TextContext,
  currency: string,
): StripeInPage => ({
  stripeJsUrl: jsUrl,
  publishableKey,
  locale: lang,
  refusals: refusalTexts(t),
  ...(needsPaymentElement(methods) && { methods: { ...methods, currency } }),
});
