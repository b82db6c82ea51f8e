/** Other two-letter codes: unions, currencies, uninhabited places, tests. */
const noCountries = new Set(['EU', 'EZ', 'QO', 'UN', 'XA', 'XB', 'ZZ']);
const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

/** A current code that is not an alias: `UK` means `GB`, `SU` is obsolete. */
function isCountry(code: string): boolean {
  if (!/^[A-Z]{2}$/.test(code) || noCountries.has(code)) return false;
  return new Intl.Locale(`und-${code}`).region === code && names.of(code) !== undefined;
}

/** ISO 3166-1 alpha-2 codes, separated by commas; undefined if one of them is no country, or the list is empty. */
export function parseCountries(text: string): string[] | undefined {
  const countries = text.split(',').map((country) => country.trim().toUpperCase());
  return countries.every(isCountry) ? [...new Set(countries)] : undefined;
}
