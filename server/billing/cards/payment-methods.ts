import type { PaymentMethodWord } from '../../../config/billing-variables.ts';

/** Stripe's types of payment methods that are offered. */
type PaymentMethodType = 'card' | 'link' | 'sepa_debit' | 'ideal' | 'bancontact';

/** The ways to pay that an operator offers. */
export interface OfferedMethods {
  types: readonly PaymentMethodType[];
  applePay: boolean;
  googlePay: boolean;
}

export const cardsAlone: OfferedMethods = { types: ['card'], applePay: false, googlePay: false };

const isWallet = (word: PaymentMethodWord): word is 'apple_pay' | 'google_pay' =>
  word === 'apple_pay' || word === 'google_pay';

/** A wallet is another way to enter a card. */
export const toOfferedMethods = (words: readonly PaymentMethodWord[]): OfferedMethods => ({
  types: words.flatMap((word) => (isWallet(word) ? [] : [word])),
  applePay: words.includes('apple_pay'),
  googlePay: words.includes('google_pay'),
});

/** Without its element Stripe's card fields are shown. */
export const needsPaymentElement = ({ types, applePay, googlePay }: OfferedMethods): boolean =>
  applePay || googlePay || types.some((type) => type !== 'card');

/** iDEAL and Bancontact are used once, and leave a mandate for a SEPA debit. */
const redirects: ReadonlySet<PaymentMethodType> = new Set(['ideal', 'bancontact']);

/** The types that pay invoices. */
export const invoiceTypes = ({ types }: OfferedMethods): ('card' | 'link' | 'sepa_debit')[] =>
  (['card', 'link', 'sepa_debit'] as const).filter(
    (type) => types.includes(type) || (type === 'sepa_debit' && types.some((one) => redirects.has(one))),
  );
