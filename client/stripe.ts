/** The use of Stripe.js on pages with a card. */
import type {
  SetupIntentResult,
  Stripe,
  StripeCardNumberElement,
  StripeElementLocale,
  StripeElementStyle,
} from '@stripe/stripe-js';
import type { CardElementName, cardElements, StripeForCards } from '../views/billing/card-form.tsx';

/**
 * Stripe's own script, from Stripe (PCI DSS: it is never bundled), with its key. A loaded one is reused.
 * @throws if it cannot be loaded
 */
export async function loadStripe({ stripeJsUrl, publishableKey, locale }: StripeForCards): Promise<Stripe> {
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

/** The error of a refused card, from Stripe or Foyer's server. */
export interface Failure {
  code?: string | undefined;
  decline_code?: string | undefined;
  message?: string | undefined;
}

/** Lets Stripe check and store a payment method, for a new setup intent. */
async function setUp(
  setupUrl: string,
  confirm: (clientSecret: string) => Promise<SetupIntentResult>,
): ReturnType<Card['setUp']> {
  // Without a secret: the user is signed out meanwhile, or has paid in another tab.
  const answer = await fetch(setupUrl, { method: 'POST', headers: { Accept: 'application/json' } });
  if (answer.redirected) return undefined;
  const { clientSecret, message }: { clientSecret?: string; message?: string } = await answer.json();
  if (!clientSecret) return { message };
  const { setupIntent, error } = await confirm(clientSecret);
  return setupIntent ? { setupIntent: setupIntent.id } : error;
}

/** Stripe's fields of a card, or its payment element. */
export interface Card {
  focus(name: CardElementName): void;
  /**
   * Lets Stripe check and store the card, for a setup intent from Foyer's server. Each attempt needs a new one.
   * @returns the setup intent's id, or the fault; undefined: the server redirects the user to another page first
   */
  setUp(setupUrl: string, name: string, zip: string): Promise<{ setupIntent: string } | Failure | undefined>;
}

/** A current value of the page's stylesheet, which Stripe's frames do not have. */
const token = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

function look(): StripeElementStyle {
  return {
    base: {
      color: token('ink'),
      iconColor: token('ink-2'),
      fontFamily: token('font'),
      fontSize: '16px',
      '::placeholder': { color: token('ink-3') },
    },
    invalid: { color: token('danger'), iconColor: token('danger') },
  };
}

export interface CardEvents {
  changed(name: CardElementName, change: { complete: boolean; error?: Failure | undefined }): void;
  focused(name?: CardElementName): void;
  ready(): void;
  failed(): void;
}

/** Mounts Stripe's payment element where the page names methods, otherwise its fields of a card. */
export async function openCard(page: StripeForCards, fields: typeof cardElements, on: CardEvents): Promise<Card> {
  if (!page.methods) return openFields(page, fields, on);
  // Pages with cards alone do not load it.
  const { mountPayment } = await import('./payment-element.ts');
  return mountPayment(await loadStripe(page), page.methods, { on, token, setUp });
}

/** Mounts Stripe's fields in the elements `#field-<name>`, in the page's colors for both themes. */
async function openFields(page: StripeForCards, fields: typeof cardElements, on: CardEvents): Promise<Card> {
  const stripe = await loadStripe(page);
  const group = stripe.elements();
  let waiting = fields.length;
  const mounted = fields.map((name) => {
    // The used interface of the three kinds of elements is the same.
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
    setUp: (setupUrl, name, zip) =>
      setUp(setupUrl, (clientSecret) =>
        stripe.confirmCardSetup(clientSecret, {
          payment_method: { card: elements.number, billing_details: { name, address: { postal_code: zip } } },
        }),
      ),
  };
}
