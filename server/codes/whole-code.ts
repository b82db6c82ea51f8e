import { codeDigits } from './one-time-codes.ts';

/** A code as it was typed: digits alone, and only a whole one (the specification's section 5). Phones and mails put spaces in. */
export function normaliseCode(typed: string): string | undefined {
  const digits = typed.replace(/[\s-]/g, '');
  return digits.length === codeDigits && /^\d+$/.test(digits) ? digits : undefined;
}
