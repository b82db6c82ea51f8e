/** The rules of card fields, as in Stripe's elements. Pure, without a browser. */

export const cardFields = ['cardNumber', 'cardExpiry', 'cardCvc'] as const;
export type CardField = (typeof cardFields)[number];
export type FaultCode =
  | 'incomplete_number'
  | 'invalid_number'
  | 'incomplete_expiry'
  | 'invalid_expiry_month_past'
  | 'invalid_expiry_year_past'
  | 'incomplete_cvc';

interface FieldState {
  empty: boolean;
  complete: boolean;
  /** The fault of an input that no further digit can make valid. */
  fault?: FaultCode;
}

interface Kind {
  brand: string;
  begins: RegExp;
  length: number;
  /** The grouping of the digits. */
  groups: readonly number[];
  cvc: number;
}

const fours = [4, 4, 4, 4];
const kinds: readonly Kind[] = [
  { brand: 'visa', begins: /^4/, length: 16, groups: fours, cvc: 3 },
  { brand: 'mastercard', begins: /^(5[1-5]|2[2-7])/, length: 16, groups: fours, cvc: 3 },
  { brand: 'amex', begins: /^3[47]/, length: 15, groups: [4, 6, 5], cvc: 4 },
  { brand: 'diners', begins: /^3[0689]/, length: 14, groups: [4, 6, 4], cvc: 3 },
  { brand: 'jcb', begins: /^35/, length: 16, groups: fours, cvc: 3 },
  { brand: 'discover', begins: /^6(011|5|4[4-9])/, length: 16, groups: fours, cvc: 3 },
  { brand: 'unionpay', begins: /^62/, length: 16, groups: fours, cvc: 3 },
];
const unknown: Kind = { brand: 'unknown', begins: /^/, length: 16, groups: fours, cvc: 3 };

const findKind = (digits: string) => kinds.find(({ begins }) => begins.test(digits)) ?? unknown;
export const findBrand = (digits: string) => findKind(digits).brand;

/** The check digit (ISO/IEC 7812-1). */
function passesLuhn(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

/** The digits of the input, up to the field's length. `brand` determines the length of a security code. */
export function toDigits(field: CardField, input: string, number: string): string {
  const digits = input.replace(/\D/g, '');
  if (field === 'cardNumber') return digits.slice(0, findKind(digits).length);
  if (field === 'cardCvc') return digits.slice(0, findKind(number).cvc);
  // "4" can only be April; "12 / 2034" is the long form of "12 / 34".
  const months = /^[2-9]/.test(digits) ? `0${digits}` : digits;
  return (months.length === 6 && months.slice(2, 4) === '20' ? months.slice(0, 2) + months.slice(4) : months).slice(
    0,
    4,
  );
}

/** As the field shows them. */
export function formatDigits(field: CardField, digits: string): string {
  if (field === 'cardCvc') return digits;
  if (field === 'cardExpiry') {
    return digits.length <= 2 ? digits : `${digits.slice(0, 2)} / ${digits.slice(2)}`;
  }
  const groups: string[] = [];
  let from = 0;
  for (const length of findKind(digits).groups) {
    if (from < digits.length) groups.push(digits.slice(from, from + length));
    from += length;
  }
  return groups.join(' ');
}

function findExpiryFault(digits: string, today: Date): FaultCode | undefined {
  const month = Number(digits.slice(0, 2));
  if (digits.length >= 2 && (month < 1 || month > 12)) return 'incomplete_expiry';
  if (digits.length < 4) return undefined;
  const year = 2000 + Number(digits.slice(2));
  if (year < today.getFullYear()) return 'invalid_expiry_year_past';
  if (year === today.getFullYear() && month < today.getMonth() + 1) return 'invalid_expiry_month_past';
  return undefined;
}

interface CardInput {
  /** The digits of the field. */
  digits: string;
  /** The digits of the card's number, which determine the length of its security code. */
  number: string;
  today: Date;
}

export function checkField(field: CardField, { digits, number, today }: CardInput): FieldState {
  const empty = digits === '';
  if (field === 'cardNumber') {
    const full = digits.length === findKind(digits).length;
    const valid = full && passesLuhn(digits);
    return { empty, complete: valid, ...(full && !valid && { fault: 'invalid_number' }) };
  }
  if (field === 'cardCvc') return { empty, complete: digits.length === findKind(number).cvc };
  const fault = findExpiryFault(digits, today);
  return { empty, complete: digits.length === 4 && fault === undefined, ...(fault !== undefined && { fault }) };
}

export const incomplete: Record<CardField, FaultCode> = {
  cardNumber: 'incomplete_number',
  cardExpiry: 'incomplete_expiry',
  cardCvc: 'incomplete_cvc',
};
