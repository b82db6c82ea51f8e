import type { SetupIntentResult, Stripe, StripePaymentElementChangeEvent } from '@stripe/stripe-js';
import type { StripeForCards } from '../views/billing/card-form.tsx';
import { appearance } from './appearance.ts';

/** Paid at once; of the others a bank takes the money after days. */
const immediate = ['card', 'link', 'apple_pay', 'google_pay'];

/** Marks the element with the chosen method: the stylesheet hides the sentence about debits below another one. */
function showNotes({ value }: Pick<StripePaymentElementChangeEvent, 'value'>): void {
  const element = document.querySelector<HTMLElement>('#field-payment');
  if (element) element.dataset.debits = String(!immediate.includes(value.type));
}

interface Surroundings<Result> {
  on: { ready(): void; failed(): void };
  /** A current value of the page's stylesheet. */
  token(name: string): string;
  /** Begins a setup intent, and confirms it. */
  setUp(setupUrl: string, confirm: (clientSecret: string) => Promise<SetupIntentResult>): Promise<Result>;
}

/** Mounts Stripe's payment element in `#field-payment`. */
export function mountPayment<Result>(
  stripe: Stripe,
  { types, currency, applePay, googlePay }: NonNullable<StripeForCards['methods']>,
  { on, token, setUp }: Surroundings<Result>,
) {
  const elements = stripe.elements({
    mode: 'setup',
    currency,
    allowedPaymentMethodTypes: [...types],
    setupFutureUsage: 'off_session',
    appearance: appearance(token),
  });
  const wallet = (offered: boolean) => (offered ? 'auto' : 'never');
  const element = elements.create('payment', {
    layout: 'accordion',
    wallets: { applePay: wallet(applePay), googlePay: wallet(googlePay), link: wallet(types.includes('link')) },
  });
  element.on('ready', on.ready);
  element.on('change', showNotes);
  element.on('loaderror', on.failed);
  element.mount('#field-payment');
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
    elements.update({ appearance: appearance(token) }),
  );
  return {
    focus() {},
    async setUp(setupUrl: string): Promise<Result | { code: string }> {
      if ((await elements.submit()).error) return { code: 'incomplete' };
      return setUp(setupUrl, (clientSecret) =>
        stripe.confirmSetup({
          elements,
          clientSecret,
          confirmParams: { return_url: location.origin + location.pathname + location.search },
          redirect: 'if_required',
        }),
      );
    },
  };
}
