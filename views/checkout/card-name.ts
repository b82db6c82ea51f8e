/** What of a saved card members recognise it by. */
export interface CardView {
  /** Stripe's word: visa, mastercard, amex … */
  brand: string;
  lastFour: string;
  expMonth: number;
  expYear: number;
}

/** Stripe's words for brands that do not become their names by a capital letter. */
const brandNames: Record<string, string> = {
  amex: 'American Express',
  diners: 'Diners Club',
  jcb: 'JCB',
  unionpay: 'UnionPay',
  eftpos_au: 'eftpos',
  cartes_bancaires: 'Cartes Bancaires',
};

/** `Visa •••• 4242`, the figures kept beside their dots; a brand that Stripe does not know is left out. */
export function cardName({ brand, lastFour }: Pick<CardView, 'brand' | 'lastFour'>): string {
  const name = brandNames[brand] ?? brand.charAt(0).toUpperCase() + brand.slice(1);
  return `${brand === 'unknown' ? '' : `${name} `}••••\u00a0${lastFour}`;
}

/** `04/2030`, as it stands on the card in every language. */
export function cardExpiry({ expMonth, expYear }: Pick<CardView, 'expMonth' | 'expYear'>): string {
  return `${String(expMonth).padStart(2, '0')}/${expYear}`;
}
