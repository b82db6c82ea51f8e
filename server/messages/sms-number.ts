/** The world's numbering plans take 100 ms and 20 MB to load: whoever asks first waits for them. */
async function parse(number: string) {
  const { parsePhoneNumberFromString } = await import('libphonenumber-js/max');
  return parsePhoneNumberFromString(number);
}

/** Kinds of numbers that a text message reaches; the rest are landlines, or cost their caller more than a call. */
const reached = new Set(['MOBILE', 'FIXED_LINE_OR_MOBILE', 'VOIP', 'PERSONAL_NUMBER']);

export type SmsNumber =
  /** `country`: ISO 3166-1 alpha-2, by the number's own range: `+1` alone says nothing of what a message costs. */
  | { kind: 'textable'; country: string }
  /** No number of any country's plan. */
  | { kind: 'impossible' }
  /** A landline, or a number at a premium. */
  | { kind: 'unreachable' };

/**
 * Whether a text message can be sent to a number.
 * @param number E.164
 */
export async function classifyNumber(number: string): Promise<SmsNumber> {
  const parsed = await parse(number);
  if (!parsed?.isValid() || parsed.number !== number || parsed.country === undefined) return { kind: 'impossible' };
  return reached.has(parsed.getType() ?? '') ? { kind: 'textable', country: parsed.country } : { kind: 'unreachable' };
}

/** As people write it: `+31 6 12345642`. @param number E.164 */
export async function formatNumber(number: string): Promise<string> {
  return (await parse(number))?.formatInternational() ?? number;
}
