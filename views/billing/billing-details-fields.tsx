import type { PageContext } from '../page-context.ts';
import type { Control } from '../parts/control.ts';
import { Field } from '../parts/field.tsx';
import { FormErrors } from '../parts/form-errors.tsx';
import { SelectField } from '../parts/select-field.tsx';
import { Stylesheet } from '../parts/stylesheet.tsx';

/** In their order on the page. */
const detailsFields = ['name', 'company', 'country', 'line1', 'line2', 'postalCode', 'city', 'state', 'vatId'] as const;
export type DetailsField = (typeof detailsFields)[number];

export interface CountryOption {
  /** ISO 3166-1 alpha-2. */
  value: string;
  label: string;
}

/** Stored billing details. */
export interface DetailsView {
  /** In one line; undefined: none. */
  text: string | undefined;
  /** The answer of the registry about the VAT id. */
  vatId: string | undefined;
}

export interface BillingDetailsFieldsProps {
  ctx: PageContext;
  controls: Record<DetailsField, Control>;
  countries: readonly CountryOption[];
  values: Record<DetailsField, string>;
  errors: Partial<Record<DetailsField, string>>;
  /** The answer of the registry about the stored VAT id. */
  vatIdStatus?: string | undefined;
}

/** Name, address, company and VAT id for invoices. */
export function BillingDetailsFields(props: BillingDetailsFieldsProps) {
  const { ctx, controls, countries, values, errors, vatIdStatus } = props;
  const { t } = ctx;
  const labels = Object.fromEntries(detailsFields.map((name) => [name, t(`payment.details.fields.${name}`)])) as Record<
    DetailsField,
    string
  >;
  const toField = (name: Exclude<DetailsField, 'country'>) => ({
    ...controls[name],
    label: labels[name],
    error: errors[name],
    defaultValue: values[name],
  });
  const hint = t('payment.details.vatIdHint');
  return (
    <>
      <Stylesheet ctx={ctx} name="checkout" />
      <FormErrors ctx={ctx} controls={controls} errors={errors} labels={labels} />
      <Field {...toField('name')} />
      <Field {...toField('company')} />
      <SelectField
        name={controls.country.name}
        autoComplete="billing country"
        label={t('payment.details.fields.country')}
        error={errors.country}
        placeholder={t('payment.details.chooseCountry')}
        options={countries}
        value={values.country}
      />
      <Field {...toField('line1')} />
      <Field {...toField('line2')} />
      <div className="pair always">
        <Field {...toField('postalCode')} />
        <Field {...toField('city')} />
      </div>
      <Field {...toField('state')} />
      <Field {...toField('vatId')} hint={vatIdStatus === undefined ? hint : `${vatIdStatus} ${hint}`} />
    </>
  );
}

/** The billing details in one line, with the link to their form. */
export function DetailsLine({ ctx: { t }, details, href }: { ctx: PageContext; details: DetailsView; href: string }) {
  const { text, vatId } = details;
  return (
    <p className="field-head billing-details">
      <span>
        {t('mail.labelled', { label: t('payment.details.title') })} {text ?? t('payment.details.none')}
        {vatId !== undefined && ` (${vatId})`}
      </span>{' '}
      <a href={href}>
        {t(text === undefined ? 'payment.details.add' : 'payment.details.edit')}
        <span className="visually-hidden"> {t('payment.details.title')}</span>
      </a>
    </p>
  );
}
