import {
  choiceSchema,
  defineAction,
  type FormField,
  formField,
  orNull,
  type RefusalRules,
  textSchema,
  wrongInput,
} from '../../http/index.ts';
import { limitRefusals } from '../../password/index.ts';
import { fullName, type User } from '../../users/index.ts';
import type { BillingService, DetailsRefusal } from '../results.ts';
import { countries, vatIdExample } from './countries.ts';
import type { BillingDetails } from './details-store.ts';

const text = (name: string, max: number, autoComplete: string): FormField<string | null> =>
  formField(name, { schema: orNull(textSchema({ max, optional: true })), maxLength: max, autoComplete });

/** The fields of billing details; a country can be left out where nothing needs it. The lengths fit Stripe's. */
export const detailsForm = {
  name: text('name', 150, 'billing name'),
  company: text('company', 150, 'billing organization'),
  line1: text('line1', 200, 'billing address-line1'),
  line2: text('line2', 200, 'billing address-line2'),
  postalCode: text('postal_code', 20, 'billing postal-code'),
  city: text('city', 100, 'billing address-level2'),
  state: text('state', 100, 'billing address-level1'),
  country: formField('country', {
    schema: orNull(choiceSchema(['', ...countries])),
    autoComplete: 'billing country',
  }),
  vatId: formField('vat_id', {
    schema: orNull(textSchema({ max: 30, optional: true })),
    maxLength: 30,
    autoComplete: 'off',
    autoCapitalize: 'characters',
    spellCheck: false,
  }),
} satisfies { [Name in keyof BillingDetails]: FormField<string | null> };

interface DetailsDeps {
  membership: Pick<BillingService, 'saveDetails'>;
}

const refusals: RefusalRules<DetailsRefusal> = {
  'no-country': wrongInput('payment.details.errors.country', 'country'),
  'no-postal-code': wrongInput('settings.errors.empty', 'postal_code'),
  place: wrongInput('payment.details.errors.place', 'postal_code'),
  'vat-id': {
    ...wrongInput('payment.details.errors.vatId', 'vat_id'),
    text: (t, { country }) => t('payment.details.errors.vatId', { example: vatIdExample(country) }),
  },
  'vat-id-country': wrongInput('payment.details.errors.vatIdCountry', 'vat_id'),
  'too-many': limitRefusals['too-many'],
};

/** Saves billing details: at the checkout, in the settings, and by the JSON API. */
export const saveDetailsAction = defineAction({
  id: 'billing-details',
  form: detailsForm,
  run({ membership }: DetailsDeps, { user }: { user: User }, entered) {
    // A person's own name stays that of the profile.
    const name = entered.name === fullName(user) ? null : entered.name;
    return membership.saveDetails(user, { ...entered, name });
  },
  refusals,
});

/** The texts in the form when it is opened. */
export const toDetailsTexts = (user: User, details: BillingDetails): Record<keyof BillingDetails, string> => ({
  name: details.name ?? fullName(user),
  company: details.company ?? '',
  line1: details.line1 ?? '',
  line2: details.line2 ?? '',
  postalCode: details.postalCode ?? '',
  city: details.city ?? '',
  state: details.state ?? '',
  country: details.country ?? '',
  vatId: details.vatId ?? '',
});
