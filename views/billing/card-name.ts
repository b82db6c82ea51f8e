import type { T } from '../../locales/index.ts';

/** The data by which users recognize a saved card, or another payment method in its place. */
export interface CardView {
  /** Stripe's value: visa, mastercard, amex …; `SavedCard` names the others. */
  brand: string;
  lastFour: string;
  /** null: not a card. */
  expMonth: number | null;
  expYear: number | null;
}

/** Stripe's values of brands that need more than a capital letter. */
const brandNames: Record<string, string> = {
  amex: 'American Express',
  diners: 'Diners Club',
  jcb: 'JCB',
  unionpay: 'UnionPay',
  eftpos_au: 'eftpos',
  cartes_bancaires: 'Cartes Bancaires',
};

/** The names of wallets, and of the methods by which a SEPA debit was agreed. */
const walletNames: Record<string, string> = { apple_pay: 'Apple Pay', google_pay: 'Google Pay' };
const agreedBy: Record<string, string> = { ideal: 'iDEAL', bancontact: 'Bancontact' };

/**
 * `Visa •••• 4242`, in one line; an unknown brand is omitted. `Apple Pay (Visa •••• 4242)`,
 * `SEPA debit •••• 3000`, `iDEAL (SEPA debit •••• 3000)`, `Link`.
 */
export function cardName(t: T, { brand, lastFour }: Pick<CardView, 'brand' | 'lastFour'>): string {
  const [wallet = '', inside] = brand.split('/');
  if (inside !== undefined) return `${walletNames[wallet] ?? wallet} (${cardName(t, { brand: inside, lastFour })})`;
  const agreed = agreedBy[brand];
  if (agreed !== undefined) return `${agreed} (${cardName(t, { brand: 'sepa_debit', lastFour })})`;
  if (brand === 'link') return 'Link';
  const named = brandNames[brand] ?? brand.charAt(0).toUpperCase() + brand.slice(1);
  const name = brand === 'sepa_debit' ? t('payment.methods.debit') : named;
  return `${brand === 'unknown' ? '' : `${name} `}•••• ${lastFour}`.replaceAll(' ', '\u00a0');
}

/** Tests for a card, in a wallet or not: only cards expire. */
export const expires = (view: Pick<CardView, 'expMonth' | 'expYear'>): view is { expMonth: number; expYear: number } =>
  view.expMonth !== null && view.expYear !== null;

/** Tests for a bank debit, which takes days. */
export const isBankDebit = ({ brand }: Pick<CardView, 'brand'>): boolean =>
  brand === 'sepa_debit' || agreedBy[brand] !== undefined;

/** Its kind in words: Link may be a card or an account. */
export function methodKind({ brand }: Pick<CardView, 'brand'>): 'card' | 'account' | 'method' {
  if (isBankDebit({ brand })) return 'account';
  return brand === 'link' ? 'method' : 'card';
}

/** `04/2030`, as on the card in every language; undefined: it does not expire. */
export function cardExpiry(view: Pick<CardView, 'expMonth' | 'expYear'>): string | undefined {
  return expires(view) ? `${String(view.expMonth).padStart(2, '0')}/${view.expYear}` : undefined;
}
