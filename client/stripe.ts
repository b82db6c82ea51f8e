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

/** Stripe's, or our server's, of a card that was not accepted. */
export interface Failure {
  code?: string | undefined;
  message?: string | undefined;
}

/** The fields of a card, as Stripe holds them. */
export interface Card {
  focus(name: CardElementName): void;
  /**
   * Has Stripe check the card and keep it, for the setup intent that our server begins. Each try asks for another one.
   * @returns the setup intent's id, or what was wrong; undefined: the server wants the member on another page first
   */
  setUp(setupUrl: string, name: string, zip: string): Promise<{ setupIntent: string } | Failure | undefined>;
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
export async function openCard(
  page: StripeInPage,
  fields: typeof cardElements,
  on: {
    changed(name: CardElementName, change: { complete: boolean; error?: Failure | undefined }): void;
    focused(name?: CardElementName): void;
    ready(): void;
    failed(): void;
  },
): Promise<Card> {
  const stripe = await loadStripe(page);
  const group = stripe.elements();
  let waiting = fields.length;
  const mounted = fields.map((name) => {
    // All that is asked of the three kinds of elements is the same.
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
  const elements = Object.fromEntries(mounted) as Record<CardElementName, StripeCardNumberElement>;
  return {
    focus: (name) => elements[name].focus(),
    async setUp(setupUrl, name, zip) {
      const answer = await fetch(setupUrl, { method: 'POST', headers: { Accept: 'application/json' } });
      // Signed out meanwhile, or paid in another tab.
      if (answer.redirected) return undefined;
      const { clientSecret, message } = await answer.json();
      if (!clientSecret) return { message };
      const { setupIntent, error } = await stripe.confirmCardSetup(clientSecret, {
        payment_method: { card: elements.number, billing_details: { name, address: { postal_code: zip } } },
      });
      return setupIntent ? { setupIntent: setupIntent.id } : (error ?? {});
    },
  };
}
