import { capitalized, formatAgo, formatAmount, formatDate, formatPlainDate } from '../../views/format.ts';

/** Intl writes narrow and non-breaking spaces. */
const plain = (text: string) => text.replaceAll(/[\u00a0\u202f]/g, ' ');
const timeMs = Date.UTC(2027, 10, 20, 14, 5);

it.each([
  ['en', '$5,000.00', '$900', '$49.90', '-$1,000.00'],
  ['de', '5.000,00 $', '900 $', '49,90 $', '-1.000,00 $'],
  ['fr', '5 000,00 $', '900 $', '49,90 $', '-1 000,00 $'],
  ['nl', '$ 5.000,00', '$ 900', '$ 49,90', '$ -1.000,00'],
] as const)('Amounts are formatted for the language %s', (lang, thousands, wholes, cents, negative) => {
  expect(plain(formatAmount(lang, 500_000))).toBe(thousands);
  expect(plain(formatAmount(lang, 90_000, { wholes: true }))).toBe(wholes);
  expect(plain(formatAmount(lang, 4_990, { wholes: true }))).toBe(cents);
  expect(plain(formatAmount(lang, -100_000))).toBe(negative);
});

it('Amounts are formatted in another currency', () => {
  expect(plain(formatAmount('de', 1_050, { currency: 'eur' }))).toBe('10,50 €');
});

it.each([
  ['en', 'November 20, 2027', 'Nov 20, 2027', 'November 2027', /^Nov 20, 2027, 2:05 PM$/],
  ['de', '20. November 2027', '20.11.2027', 'November 2027', /^20\.11\.2027, 14:05$/],
  ['fr', '20 novembre 2027', '20 nov. 2027', 'novembre 2027', /^20 nov\. 2027, 14:05$/],
  ['nl', '20 november 2027', '20 nov 2027', 'november 2027', /^20 nov 2027, 14:05$/],
] as const)('Dates are formatted for the language %s', (lang, date, short, month, dateTime) => {
  expect(plain(formatDate(lang, timeMs))).toBe(date);
  expect(plain(formatDate(lang, timeMs, 'short'))).toBe(short);
  expect(plain(formatDate(lang, timeMs, 'month'))).toBe(month);
  expect(plain(formatDate(lang, timeMs, 'dateTime'))).toMatch(dateTime);
});

it.each([
  ['date', '1er décembre 2026'],
  ['short', '1er déc. 2026'],
  ['dateTime', '1er déc. 2026, 01:03'],
  ['moment', '1er déc. 2026, 01:03 UTC'],
  ['exact', '1er déc. 2026, 01:03:00 UTC'],
  ['time', '01:03 UTC'],
] as const)('The first day of a month is an ordinal in French, in the style %s', (style, text) => {
  expect(plain(formatDate('fr', Date.UTC(2026, 11, 1, 1, 3), style))).toBe(text);
  expect(plain(formatDate('fr', Date.UTC(2026, 11, 11)))).toMatch(/^11 /);
  expect(plain(formatDate('nl', Date.UTC(2026, 11, 1)))).toBe('1 december 2026');
});

it('A date on a page breaks between the day and its time alone, and one of a mail has plain spaces', () => {
  expect(formatDate('en', timeMs)).toBe('November\u00a020,\u00a02027');
  expect(formatDate('de', timeMs)).toBe('20.\u00a0November\u00a02027');
  expect(formatDate('en', timeMs, 'moment').split(' ')).toHaveLength(2);
  expect(formatDate('nl', timeMs, 'time')).not.toContain(' ');
  expect(formatPlainDate('fr', timeMs)).toBe('20 novembre 2027');
});

it('A time zone moves the date', () => {
  expect(plain(formatDate('en', Date.UTC(2027, 0, 1, 2), { style: 'short', timeZone: 'America/New_York' }))).toBe(
    'Dec 31, 2026',
  );
  expect(plain(formatDate('en', timeMs, 'moment'))).toBe('Nov 20, 2027, 2:05 PM UTC');
  expect(plain(formatDate('en', timeMs, 'exact'))).toBe('Nov 20, 2027, 2:05:00 PM UTC');
});

it.each([
  ['en', 'now', '3 minutes ago', 'yesterday', 'Oct 1, 2027'],
  ['de', 'jetzt', 'vor 3 Minuten', 'gestern', '01.10.2027'],
  ['fr', 'maintenant', 'il y a 3 minutes', 'hier', '1er oct. 2027'],
  ['nl', 'nu', '3 minuten geleden', 'gisteren', '1 okt 2027'],
] as const)('Times ago are formatted for the language %s', (lang, now, minutes, yesterday, date) => {
  const ago = (ms: number) => plain(formatAgo(lang, timeMs - ms, timeMs));
  const dayMs = 24 * 60 * 60_000;
  expect([ago(0), ago(59_999), ago(3 * 60_000 + 59_999)]).toEqual([now, now, minutes]);
  // Another process's clock may be a little ahead.
  expect([ago(-5_000), ago(dayMs), ago(50 * dayMs)]).toEqual([now, yesterday, date]);
});

it.each([
  ['nl', 'btw verlegd', 'Btw verlegd'],
  ['de', '19 % MwSt.', '19 % MwSt.'],
  ['fr', 'écotaxe', 'Écotaxe'],
] as const)('A text that begins a line in the language %s has a capital letter', (lang, text, line) => {
  expect(capitalized(lang, text)).toBe(line);
});
