import { AuthLayout } from '../layout/auth-layout.tsx';
import { pageForm } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { PageNotice, type PageNoticeProps } from '../parts/page-notice.tsx';
import { Script } from '../parts/script.tsx';
import { BillingDetailsFields, type BillingDetailsFieldsProps } from './billing-details-fields.tsx';
import { type CheckoutKind, CheckoutSteps } from './checkout-steps.tsx';

interface CheckoutDetailsPageProps extends BillingDetailsFieldsProps {
  steps: CheckoutKind;
  action: string;
  /** Of the plan's summary. */
  backHref: string;
  notice?: PageNoticeProps | undefined;
}

/** The address for the invoice, before the amounts that depend on it. */
export function CheckoutDetailsPage(props: CheckoutDetailsPageProps) {
  const { steps, action, backHref, notice, ...fields } = props;
  const { ctx } = fields;
  const { t } = ctx;
  return (
    <AuthLayout ctx={ctx} long signOut>
      <Script ctx={ctx} entry="busy" />
      <CheckoutSteps ctx={ctx} kind={steps} />
      <div className="panel-head">
        <h1>{t('payment.details.title')}</h1>
        <p className="muted">{t('payment.details.lead')}</p>
      </div>
      <PageNotice ctx={ctx} notice={notice} />
      <form className="form" id={pageForm} method="post" action={action} noValidate>
        <BillingDetailsFields {...fields} />
        <Button block>{t('payment.details.next')}</Button>
      </form>
      <p className="panel-ways">
        <a href={backHref}>{t('payment.saved.back')}</a>
      </p>
    </AuthLayout>
  );
}
