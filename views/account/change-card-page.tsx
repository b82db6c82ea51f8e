import { CardForm, SecuredLine, type StripeInPage } from '../billing/card-form.tsx';
import type { CardView } from '../billing/card-name.ts';
import { PaymentAction, type PaymentActionProps } from '../billing/payment-action.tsx';
import { Retry, type ReturnedMethod, SavedMethod } from '../billing/payment-page.tsx';
import { AccountLayout } from '../layout/account-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { PageNotice, type PageNoticeProps } from '../parts/page-notice.tsx';

interface CardPageFrame {
  ctx: PageContext;
  stripe: StripeInPage;
  backHref: string;
}

interface ChangeCardPageProps extends CardPageFrame {
  action: string;
  setupUrl: string;
  notice?: PageNoticeProps | undefined;
  returned?: ReturnedMethod | undefined;
  /** The present card. */
  card?: CardView | undefined;
  /** For a card that could not be saved while Stripe was unavailable: it need not be entered again. */
  retryFields?: Record<string, string> | undefined;
}

/** The form for the charged card: that of the payment page, without a payment. */
export function ChangeCardPage(props: ChangeCardPageProps) {
  const { ctx, stripe, backHref, action, setupUrl, notice, returned, retryFields } = props;
  const card = returned?.card ?? props.card;
  const { t } = ctx;
  const texts = stripe.methods ? 'methods' : 'change';
  const title = t(card ? `payment.${texts}.title` : `payment.${texts}.first`);
  return (
    <AccountLayout ctx={ctx} at="membership" below={title} heading={title} action>
      <section className="card card-act">
        <PageNotice ctx={ctx} notice={notice} />
        {card && <SavedMethod t={t} card={card} />}
        {returned && (
          <form className="form" method="post" action={action}>
            <HiddenFields fields={{ setupIntent: returned.setupIntent }} />
            <p>{t('payment.methods.confirmed')}</p>
            <Button>{t('payment.methods.use')}</Button>
          </form>
        )}
        {retryFields ? (
          <Retry ctx={ctx} action={action} fields={retryFields} />
        ) : (
          <>
            <p className="muted">{t(stripe.methods ? 'payment.methods.changeLead' : 'payment.change.lead')}</p>
            <CardForm ctx={ctx} stripe={stripe} action={action} setupUrl={setupUrl} fields={{}} />
            <SecuredLine ctx={ctx} methods={stripe.methods !== undefined} />
          </>
        )}
        <p className="panel-ways">
          <a href={backHref}>{t('payment.saved.back')}</a>
        </p>
      </section>
    </AccountLayout>
  );
}

interface CardActionPageProps
  extends CardPageFrame,
    Pick<PaymentActionProps, 'action' | 'clientSecret' | 'paymentMethodId' | 'retryFields' | 'otherCardHref'> {
  /** As text. */
  amount: string;
  hostedInvoiceUrl: string | undefined;
}

/** The bank authenticates the user before it pays an invoice (3-D Secure). */
export function CardActionPage({ ctx, stripe, backHref, amount, ...payment }: CardActionPageProps) {
  const { t } = ctx;
  const title = t('payment.bank.title');
  return (
    <AccountLayout
      ctx={ctx}
      at="membership"
      below={title}
      heading={title}
      lead={t('payment.bank.lead', { amount })}
      action
    >
      <section className="card card-act">
        <PaymentAction ctx={ctx} {...stripe} {...payment} />
        <p className="panel-ways">
          <a href={backHref}>{t('payment.saved.back')}</a>
        </p>
      </section>
    </AccountLayout>
  );
}
