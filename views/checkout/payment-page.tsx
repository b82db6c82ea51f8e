import type { ReactNode } from 'react';
import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { Script } from '../parts/script.tsx';
import { type SummaryLine, SummaryList } from '../parts/summary-list.tsx';
import { CardForm, cardFormProps, type StripeInPage } from './card-form.tsx';
import { type CardView, cardExpiry, cardName } from './card-name.ts';
import { CheckoutNotice, type CheckoutNoticeProps } from './checkout-notice.tsx';
import { type CheckoutKind, CheckoutSteps } from './checkout-steps.tsx';
import { PaymentAction } from './payment-action.tsx';

interface PaymentPageFrame {
  ctx: PageContext;
  /** Whose steps stand above it. */
  steps: CheckoutKind;
  stripe: StripeInPage;
  /** Of this page, where its forms go. */
  action: string;
  /** Of the plan's summary. */
  backHref: string;
}

export interface PaymentPageProps extends PaymentPageFrame {
  setupUrl: string;
  notice?: CheckoutNoticeProps | undefined;
  /** What is paid; without it there is nothing to confirm for the moment. */
  quote?:
    | {
        lines: readonly SummaryLine[];
        total: SummaryLine;
        note: string;
        /** What the page announces. */
        announced: Record<string, string>;
        /** Due today, as it is read; undefined: nothing. */
        due: string | undefined;
      }
    | undefined;
  /** The card that would be charged. */
  card?: CardView | undefined;
  /** While Stripe is away: what was sent, to be sent again; nothing was sent: the page is asked for again. */
  retryFields: Record<string, string>;
}

const TheLayout = ({
  ctx,
  steps,
  title,
  children,
}: Pick<PaymentPageFrame, 'ctx' | 'steps'> & { title: string; children: ReactNode }) => (
  <AuthLayout ctx={ctx} long>
    <Script ctx={ctx} entry="busy" />
    <CheckoutSteps ctx={ctx} kind={steps} />
    <div className="panel-head">
      <h1>{title}</h1>
    </div>
    {children}
  </AuthLayout>
);

/** The saved card, to be charged without entering it again; it needs no scripts. */
function SavedCard({
  ctx: { t },
  action,
  card,
  quiet,
  quote: { announced, due },
}: Pick<PaymentPageFrame, 'ctx' | 'action'> & {
  card: CardView;
  quiet: boolean;
  quote: NonNullable<PaymentPageProps['quote']>;
}) {
  return (
    <form className="form" method="post" action={action}>
      <HiddenFields fields={announced} />
      <p>
        {t('mail.labelled', { label: t('payment.saved.label') })} <strong>{cardName(card)}</strong>,{' '}
        {t('payment.saved.expiry', { date: cardExpiry(card) })}
      </p>
      <Button kind={quiet ? 'quiet' : 'primary'} block>
        {due === undefined ? t('payment.saved.use') : t('payment.saved.pay', { amount: due })}
      </Button>
    </form>
  );
}

/** While Stripe is away: sends what was sent once more; without that it asks for the page again. */
export function Retry({
  ctx: { t },
  action,
  fields,
}: Pick<PaymentPageFrame, 'ctx' | 'action'> & { fields: Record<string, string> }) {
  if (Object.keys(fields).length === 0) {
    return (
      <ButtonLink href={action} block>
        {t('payment.retry')}
      </ButtonLink>
    );
  }
  return (
    <form method="post" action={action}>
      <HiddenFields fields={fields} />
      <Button block>{t('payment.retry')}</Button>
    </form>
  );
}

/** 'Payment Method': what is due, the saved card, the form for another (specification, section 2, step 2). */
export function PaymentPage(props: PaymentPageProps) {
  const { ctx, steps, stripe, action, backHref, setupUrl, notice, quote, card, retryFields } = props;
  const { t } = ctx;
  // The saved card is what most members take, unless it has just been refused.
  const savedFirst = card !== undefined && notice?.kind !== 'error';
  return (
    <TheLayout ctx={ctx} steps={steps} title={t('payment.heading')}>
      {quote && <SummaryList lines={quote.lines} total={quote.total} note={quote.note} />}
      <CheckoutNotice ctx={ctx} notice={notice} />
      {quote && card && <SavedCard ctx={ctx} action={action} card={card} quiet={!savedFirst} quote={quote} />}
      {quote ? (
        <>
          <div className="panel-head">
            {card && <h2>{t('payment.saved.another')}</h2>}
            <p className="muted">{t('payment.lead')}</p>
          </div>
          <CardForm
            ctx={ctx}
            {...cardFormProps(t, {
              ...stripe,
              action,
              setupUrl,
              fields: { ...quote.announced, act: 'save-card' },
              quiet: savedFirst,
              saveNote:
                quote.due === undefined ? t('payment.charge.nothing') : t('payment.charge.now', { amount: quote.due }),
            })}
          />
        </>
      ) : (
        <Retry ctx={ctx} action={action} fields={retryFields} />
      )}
      <p className="panel-ways">
        <a href={backHref}>{t('payment.saved.back')}</a>
      </p>
    </TheLayout>
  );
}

export interface PaymentActionPageProps extends PaymentPageFrame {
  clientSecret: string;
  paymentMethodId: string | undefined;
  /** As it is read. */
  amount: string;
  retryFields: Record<string, string>;
  hostedInvoiceUrl: string | undefined;
}

/** The bank wants to hear from the member before it pays (3-D Secure). */
export function PaymentActionPage(props: PaymentActionPageProps) {
  const { ctx, steps, stripe, action, backHref, amount, ...payment } = props;
  const { t } = ctx;
  return (
    <TheLayout ctx={ctx} steps={steps} title={t('payment.bank.title')}>
      <p>{t('payment.bank.lead', { amount })}</p>
      <PaymentAction ctx={ctx} {...stripe} {...payment} action={action} otherCardHref={action} />
      <p className="panel-ways">
        <a href={backHref}>{t('payment.saved.back')}</a>
      </p>
    </TheLayout>
  );
}
