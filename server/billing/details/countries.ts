/** The countries of ISO 3166-1 (alpha-2). */
export const countries: readonly string[] = [
  ...'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY'.split(
    ' ',
  ),
  ...'BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK'.split(
    ' ',
  ),
  ...'FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR'.split(
    ' ',
  ),
  ...'IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK'.split(
    ' ',
  ),
  ...'ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM'.split(
    ' ',
  ),
  ...'PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF'.split(
    ' ',
  ),
  ...'TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW'.split(' '),
];

/** They have no postal codes (Universal Postal Union). */
const withoutPostalCodes: ReadonlySet<string> = new Set([
  ...'AE AG AO AW BF BI BJ BO BQ BS BW BZ CD CF CG CI CK CM CW DJ DM ER FJ GA GD GH GM GQ GY HK JM KI KM KN KP'.split(
    ' ',
  ),
  ...'ML MO MR MW NA NR NU QA RW SB SC SL SR ST SX SY TD TG TK TL TO TT TV UG VU WS YE ZW'.split(' '),
]);

export const hasPostalCodes = (country: string): boolean => !withoutPostalCodes.has(country);

/** The members of the EU, with the first letters of their VAT ids. */
const euPrefixes: ReadonlyMap<string, string> = new Map(
  'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'
    .split(' ')
    .map((country) => [country, country === 'GR' ? 'EL' : country]),
);

/** A VAT id of each country, in the form in which Stripe accepts it. */
const vatIdExamples: ReadonlyMap<string, string> = new Map(
  [
    ...'ATU12345678 BE0123456789 BG0123456789 CY12345678L CZ1234567890 DE123456789 DK12345678 EE123456789'.split(' '),
    ...'EL123456789 ESA1234567Z FI12345678 FRAB123456789 HR12345678912 HU12345678 IE1234567AB IT12345678912'.split(' '),
    ...'LT123456789123 LU12345678 LV12345678912 MT12345678 NL123456789B12 PL1234567890 PT123456789'.split(' '),
    ...'RO1234567891 SE123456789123 SI12345678 SK1234567891 GB123456789'.split(' '),
  ].map((example): [string, string] => [example.startsWith('EL') ? 'GR' : example.slice(0, 2), example]),
);

/** A VAT id of a country in its form, for people. */
export const vatIdExample = (country: string): string => {
  if (country === 'CH') return 'CHE-123.456.789 MWST';
  return country === 'NO' ? '123456789MVA' : (vatIdExamples.get(country) ?? 'DE123456789');
};

/** Stripe's types of the VAT ids that it knows for a country. */
type TaxIdType = 'eu_vat' | 'gb_vat' | 'ch_vat' | 'no_vat';

export interface TaxId {
  type: TaxIdType;
  value: string;
}

/** As Switzerland writes it: CHE-123.456.789 MWST. */
function toSwissId(compact: string): string {
  const { digits, word } = /^(?:CHE)?(?<digits>\d{9})(?<word>[A-Z]*)$/.exec(compact)?.groups ?? {};
  if (digits === undefined) return compact;
  return `CHE-${digits.slice(0, 3)}.${digits.slice(3, 6)}.${digits.slice(6)} ${word || 'MWST'}`;
}

const withPrefix = (prefix: string, compact: string) => (compact.startsWith(prefix) ? compact : prefix + compact);

/**
 * A VAT id as Stripe takes it: its type follows from the country, and people leave out the letters of their country.
 * Stripe checks the rest.
 * @returns undefined if no VAT id of the country is known
 */
export function toTaxId(country: string, typed: string): TaxId | undefined {
  const compact = typed.toUpperCase().replaceAll(/[\s.-]/g, '');
  const prefix = euPrefixes.get(country);
  if (prefix !== undefined) return { type: 'eu_vat', value: withPrefix(prefix, compact) };
  switch (country) {
    case 'GB':
      // Northern Ireland has ids of the EU.
      return compact.startsWith('XI')
        ? { type: 'eu_vat', value: compact }
        : { type: 'gb_vat', value: withPrefix('GB', compact) };
    case 'CH':
      return { type: 'ch_vat', value: toSwissId(compact) };
    case 'NO':
      return { type: 'no_vat', value: `${compact.replace(/^NO/, '').replace(/MVA$/, '')}MVA` };
    default:
      return undefined;
  }
}
