import type { CountryOption, DetailsView } from '../../../views/billing/billing-details-fields.tsx';
import type { Language } from '../../http/index.ts';
import { fullName, type User } from '../../users/index.ts';
import type { TextContext } from '../checkout/plan-view.ts';
import type { BillingDetailsState } from '../results.ts';
import { countries } from './countries.ts';

const optionsByLanguage = new Map<Language, readonly CountryOption[]>();

const countryNames = (lang: Language) => new Intl.DisplayNames(lang, { type: 'region' });

/** All countries by their names, in the order of the language. */
export function listCountries(lang: Language): readonly CountryOption[] {
  const known = optionsByLanguage.get(lang);
  if (known) return known;
  const names = countryNames(lang);
  const { compare } = new Intl.Collator(lang);
  const options = countries
    .map((value) => ({ value, label: names.of(value) ?? value }))
    .toSorted((one, other) => compare(one.label, other.label));
  optionsByLanguage.set(lang, options);
  return options;
}

/** Billing details in one line, with what is known of the VAT id. */
export function toDetailsView(
  { lang, t }: TextContext,
  user: User,
  { details, vatIdStatus }: BillingDetailsState,
): DetailsView {
  const { name, company, line1, line2, postalCode, city, state, country, vatId } = details;
  const isEmpty = Object.values(details).every((text) => text === null);
  const parts = [
    company ?? name ?? fullName(user),
    ...[line1, line2, [postalCode, city].filter((text) => text !== null).join('\u00a0'), state],
    country === null ? null : countryNames(lang).of(country),
    vatId,
  ];
  return {
    text: isEmpty ? undefined : parts.filter((part) => part).join(', '),
    vatId: vatId === null || vatIdStatus === null ? undefined : t(`payment.details.status.${vatIdStatus}`),
  };
}
