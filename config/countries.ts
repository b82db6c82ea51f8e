/** What else has a code of two letters: unions, currencies, places without people, tests. */
const noCountries = new Set(['EU', 'EZ', 'QO', 'UN', 'XA', 'XB', 'ZZ']);
const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

/** A code that is in use, and no other's alias: `UK` means `GB`, `SU` is gone. */
function isCountry(code: string): boolean {
  if (!/^[A-Z]{2}$/.test(code) || noCountries.has(code)) return false;
  return new Intl.Locale(`und-${code}`).region === code && names.of(code) !== undefined;
}

/** ISO 3166-1 alpha-2 codes, separated by commas; undefined when one of them is no country, or none is there. */
export function parseCountries(text: string): string[] | undefined {
  const countries = text.split(',').map((country) => country.trim().toUpperCase());
  return countries.every(isCountry) ? [...new Set(countries)] : undefined;
}
