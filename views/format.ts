import type { Language } from '../locales/index.ts';

/** Formatters are slow to create and cheap to keep. */
const dates = new Map<string, Intl.DateTimeFormat>();
const amounts = new Map<string, Intl.NumberFormat>();

const dateStyles = {
  /** 20 November 2027 */
  date: { dateStyle: 'long' },
  /** 20 Nov 2027 */
  short: { dateStyle: 'medium' },
  /** 20 Nov 2027, 14:05 */
  dateTime: { dateStyle: 'medium', timeStyle: 'short' },
  /** 20 Nov 2027, 14:05 UTC */
  moment: {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
  },
  /** With seconds and the time zone, for exact times. */
  exact: { dateStyle: 'medium', timeStyle: 'long' },
  /** 14:05 UTC */
  time: { hour: 'numeric', minute: '2-digit', timeZoneName: 'short' },
  /** November 2027 */
  month: { year: 'numeric', month: 'long' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

export type DateStyle = keyof typeof dateStyles;

/** A style in UTC, or with the time zone of the user (IANA name). */
type DateFormat = DateStyle | { style: DateStyle; timeZone: string };

/**
 * A time in the language's format, for a mail as text.
 * @param timeMs milliseconds since the epoch
 */
export function formatPlainDate(lang: Language, timeMs: number, format: DateFormat = 'date'): string {
  const { style, timeZone } = typeof format === 'string' ? { style: format, timeZone: 'UTC' } : format;
  const key = `${lang} ${style} ${timeZone}`;
  let formatter = dates.get(key);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat(lang, { ...dateStyles[style], timeZone });
    dates.set(key, formatter);
  }
  const text = formatter.format(timeMs);
  // French writes the first day of a month as an ordinal; CLDR, and so Intl, does not.
  return lang === 'fr' ? text.replace(/^1 /, '1er ') : text;
}

/** The same on a page: a line breaks between a day and its time alone. */
export const formatDate = (lang: Language, timeMs: number, format: DateFormat = 'date'): string =>
  formatPlainDate(lang, timeMs, format)
    .replaceAll(' ', '\u00a0')
    .replace(/\u00a0(?=\d{1,2}:\d{2})/, ' ');

/**
 * An amount of money in the language's format.
 * @param cents integer, in the currency's smallest unit (two decimals)
 * @param wholes omit the decimals if they are zero: `$900` rather than `$900.00`
 */
export function formatAmount(
  lang: Language,
  cents: number,
  { currency = 'usd', wholes = false }: { currency?: string; wholes?: boolean } = {},
): string {
  const trailingZeroDisplay = wholes ? 'stripIfInteger' : 'auto';
  const key = `${lang} ${currency} ${trailingZeroDisplay}`;
  let format = amounts.get(key);
  if (format === undefined) {
    // Narrow: $ for US dollars in every language, as the plans are sold.
    format = new Intl.NumberFormat(lang, {
      style: 'currency',
      currency,
      currencyDisplay: 'narrowSymbol',
      trailingZeroDisplay,
    });
    amounts.set(key, format);
  }
  return format.format(cents / 100);
}

const agos = new Map<string, Intl.RelativeTimeFormat>();
const agoUnits = [
  ['day', 24 * 60 * 60_000],
  ['hour', 60 * 60_000],
  ['minute', 60_000],
] as const;
const daysInWords = 30;

/** A relative time, which needs no time zone: `3 minutes ago`; a date after more than a month. */
export function formatAgo(lang: Language, timeMs: number, nowMs: number): string {
  const passedMs = Math.max(0, nowMs - timeMs);
  const format = agos.get(lang) ?? new Intl.RelativeTimeFormat(lang, { numeric: 'auto' });
  agos.set(lang, format);
  const [unit, unitMs] = agoUnits.find(([, ms]) => passedMs >= ms) ?? (['second', Number.POSITIVE_INFINITY] as const);
  const count = Math.floor(passedMs / unitMs);
  return unit === 'day' && count > daysInWords ? formatDate(lang, timeMs, 'short') : format.format(-count, unit);
}

/** '19%' */
export const formatPercent = (lang: Language, percent: number): string =>
  new Intl.NumberFormat(lang, { style: 'percent', maximumFractionDigits: 4 }).format(percent / 100);

/** A text as the beginning of a line: “btw”, the Dutch tax, is a word without a capital letter elsewhere. */
export const capitalized = (lang: string, text: string): string =>
  text.charAt(0).toLocaleUpperCase(lang) + text.slice(1);
