/** Stripe's words for card brands, as the cards themselves say them (https://docs.stripe.com/api/payment_methods/object#payment_method_object-card-brand). */
const names: Record<string, string> = {
  amex: 'American Express',
  cartes_bancaires: 'Cartes Bancaires',
  diners: 'Diners Club',
  discover: 'Discover',
  eftpos_au: 'Eftpos',
  jcb: 'JCB',
  mastercard: 'Mastercard',
  unionpay: 'UnionPay',
  visa: 'Visa',
};

/** `Visa •••• 4242`; the digits alone where the brand has no name here. No line ends inside. */
export function cardName({ brand, lastFour }: { brand: string; lastFour: string }): string {
  const digits = `••••\u00a0${lastFour}`;
  return Object.hasOwn(names, brand) ? `${names[brand]} ${digits}`.replaceAll(' ', '\u00a0') : digits;
}
