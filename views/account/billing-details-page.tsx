import { BillingDetailsFields, type CountryOption, type DetailsField } from '../billing/billing-details-fields.tsx';
import { pageForm } from '../page-context.ts';
import { AccountAction, ActButtons } from './account-action.tsx';
import type { FormPageProps } from './form-page.ts';

interface BillingDetailsPageProps extends FormPageProps<DetailsField> {
  countries: readonly CountryOption[];
  vatIdStatus?: string | undefined;
}

/** The name and address on a user's invoices. */
export function BillingDetailsPage({ action, problem, ...fields }: BillingDetailsPageProps) {
  const { ctx } = fields;
  const { t } = ctx;
  return (
    <AccountAction
      ctx={ctx}
      id="edit-billing-details"
      title={t('payment.details.title')}
      lead={t('payment.details.settingsLead')}
      tab="membership"
      problem={problem}
    >
      <form className="form" id={pageForm} method="post" action={action} noValidate>
        <BillingDetailsFields {...fields} />
        <ActButtons ctx={ctx} submit={t('settings.save')} tab="membership" />
      </form>
    </AccountAction>
  );
}
