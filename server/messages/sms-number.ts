import { type E164, once } from '../shared/index.ts';

/** The numbering plans take up to 100 ms to load: after the start, or at the first look-up. */
export const numberingPlans = once(() => import('libphonenumber-js/max'));

async function parse(number: E164) {
  const { parsePhoneNumberFromString } = await numberingPlans();
  return parsePhoneNumberFromString(number);
}

/** Types of numbers that receive text messages; the others are landlines or premium numbers. */
const reached = new Set(['MOBILE', 'FIXED_LINE_OR_MOBILE', 'VOIP', 'PERSONAL_NUMBER']);

type SmsNumber =
  /**
   * `country`: ISO 3166-1 alpha-2, from the number's own range: `+1` alone does not determine the price of a message.
   */
  | { kind: 'textable'; country: string }
  /** Not a number of any country's numbering plan. */
  | { kind: 'impossible' }
  /** A landline, or a premium number. */
  | { kind: 'unreachable' };

/**
 * Tests whether a number can receive text messages.
 * @param number E.164
 */
export async function classifyNumber(number: E164): Promise<SmsNumber> {
  const parsed = await parse(number);
  if (!parsed?.isValid() || parsed.number !== number || parsed.country === undefined) return { kind: 'impossible' };
  return reached.has(parsed.getType() ?? '') ? { kind: 'textable', country: parsed.country } : { kind: 'unreachable' };
}

/** The usual notation: `+31 6 12345642`. @param number E.164 */
export async function formatNumber(number: E164): Promise<string> {
  return (await parse(number))?.formatInternational() ?? number;
}
