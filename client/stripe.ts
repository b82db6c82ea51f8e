/** What pages with a card do with Stripe.js. */
import type { Stripe, StripeCardNumberElement, StripeElementLocale, StripeElementStyle } from '@stripe/stripe-js';
import type { CardElementName, cardElements, StripeInPage } from '../views/checkout/card-form.tsx';

/**
 * Stripe's own script, from Stripe (PCI DSS: it is never bundled), with its key. What is on the page already is used.
 * @throws when it does not come
 */
export async function loadStripe({ stripeJsUrl, publishableKey, locale }: StripeInPage): Promise<Stripe> {
  if (!window.Stripe) {
    await new Promise((resolve, reject) => {
      const script = document.createElement('script');
      script.src = stripeJsUrl;
      script.onload = resolve;
      script.onerror = reject;
      document.head.append(script);
    });
  }
  if (!window.Stripe) throw new Error('the script is not Stripe’s');
  return window.Stripe(publishableKey, { locale: locale as StripeElementLocale });
}

/** All that is asked of Stripe's elements here is the same in the three kinds. */
export type CardElement = StripeCardNumberElement;

/** Stripe's, or our server's, of a card that was not accepted. */
export interface Failure {
  code?: string | undefined;
  message?: string | undefined;
}

/** Stripe's frames know no stylesheet of ours: the page's colours as they are now. */
function look(): StripeElementStyle {
  const page = getComputedStyle(document.documentElement);
  const colour = (token: string) => page.getPropertyValue(`--${token}`).trim();
  return {
    base: {
      color: colour('ink'),
      iconColor: colour('ink-2'),
      fontFamily: 'system-ui, sans-serif',
      fontSize: '16px',
      '::placeholder': { color: colour('ink-3') },
    },
    invalid: { color: colour('danger'), iconColor: colour('danger') },
  };
}

/** Puts Stripe's fields into the elements `#field-<name>`, in the page's colours by day and night. */
export function mountCard(
  stripe: Stripe,
  fields: typeof cardElements,
  on: {
    changed(name: CardElementName, change: { complete: boolean; error?: Failure | undefined }): void;
    focused(name?: CardElementName): void;
    ready(): void;
    failed(): void;
  },
): Record<CardElementName, CardElement> {
  let waiting = fields.length;
  const group = stripe.elements();
  const mounted = fields.map((name) => {
    const type = `card${name[0]?.toUpperCase()}${name.slice(1)}` as 'cardNumber';
    const element = group.create(type, { style: look(), ...(name === 'number' && { showIcon: true }) });
    element.on('change', (change) => on.changed(name, change));
    element.on('focus', () => on.focused(name));
    element.on('blur', () => on.focused());
    element.on('loaderror', on.failed);
    element.on('ready', () => {
      waiting -= 1;
      if (waiting === 0) on.ready();
    });
    element.mount(`#field-${name}`);
    return [name, element] as const;
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    for (const [, element] of mounted) element.update({ style: look() });
  });
  return Object.fromEntries(mounted) as Record<CardElementName, CardElement>;
}
