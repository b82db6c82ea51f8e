import { isSupportedCountry } from 'libphonenumber-js/max';

/** ISO 3166-1 alpha-2 codes, separated by commas; undefined when one of them is no country with telephones, or none is there. */
export function parseCountries(text: string): string[] | undefined {
  const countries = text.split(',').map((country) => country.trim().toUpperCase());
  return countries.every((country) => isSupportedCountry(country)) ? [...new Set(countries)] : undefined;
}
