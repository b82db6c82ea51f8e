import { codeDigits } from './one-time-codes.ts';

/**
 * Normalizes a typed code: only digits, and only a complete code (the specification's section 5). Phones and mails add
 * spaces.
 */
export function normaliseCode(typed: string): string | undefined {
  const digits = typed.replace(/[\s-]/g, '');
  return digits.length === codeDigits && /^\d+$/.test(digits) ? digits : undefined;
}
