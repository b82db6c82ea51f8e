/** The data by which users recognize a saved card. */
export interface CardView {
  /** Stripe's value: visa, mastercard, amex … */
  brand: string;
  lastFour: string;
  expMonth: number;
  expYear: number;
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

/** `Visa •••• 4242`, with the figures kept beside their dots; an unknown brand is omitted. */
export function cardName({ brand, lastFour }: Pick<CardView, 'brand' | 'lastFour'>): string {
  const name = brandNames[brand] ?? brand.charAt(0).toUpperCase() + brand.slice(1);
  return `${brand === 'unknown' ? '' : `${name} `}••••\u00a0${lastFour}`;
}

/** `04/2030`, as on the card in every language. */
export function cardExpiry({ expMonth, expYear }: Pick<CardView, 'expMonth' | 'expYear'>): string {
  return `${String(expMonth).padStart(2, '0')}/${expYear}`;
}
