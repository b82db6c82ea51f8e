import type { Ref } from 'react';
import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { Island } from '../parts/island.tsx';
import { Notice } from '../parts/notice.tsx';
import type { StripeInPage } from './card-form.tsx';

export interface PaymentActionProps extends StripeInPage {
  /** The target of `outcomeFields` and `retryFields`. */
  action: string;
  /** Of the payment that the bank wants to authenticate. */
  clientSecret: string;
  /** The charged card. */
  paymentMethodId?: string | undefined;
  /** Repeats the same action. */
  retryFields: Record<string, string>;
  otherCardHref: string;
  waiting: string;
  failedTitle: string;
  tryAgain: string;
  otherCard: string;
  failed: string;
  notLoaded: string;
}

interface PaymentActionHandlers {
  problem?: string | undefined;
  outcome?: Ref<HTMLFormElement>;
}

/** The action that reads the result of a payment. */
const outcomeFields = { act: 'outcome' };

export function PaymentActionView(props: PaymentActionProps & PaymentActionHandlers) {
  const { action, problem } = props;
  return (
    <>
      <form method="post" action={action} ref={props.outcome} hidden>
        <HiddenFields fields={outcomeFields} />
      </form>
      {problem === undefined ? (
        <p className="muted needs-script" role="status">
          {props.waiting}
        </p>
      ) : (
        <>
          <Notice kind="error" title={props.failedTitle}>
            {problem}
          </Notice>
          <form className="form" method="post" action={action}>
            <HiddenFields fields={props.retryFields} />
            <Button block>{props.tryAgain}</Button>
            <ButtonLink kind="quiet" href={props.otherCardHref} block>
              {props.otherCard}
            </ButtonLink>
          </form>
        </>
      )}
    </>
  );
}

/**
 * The bank authenticates the user (3-D Secure): Stripe.js shows its page in a frame over this one. Without scripts
 * there is a link to the invoice's own page at Stripe, and a button for the way back.
 */
export function PaymentAction(
  props: { ctx: PageContext; hostedInvoiceUrl?: string | undefined } & StripeInPage &
    Pick<PaymentActionProps, 'action' | 'clientSecret' | 'paymentMethodId' | 'retryFields' | 'otherCardHref'>,
) {
  const { ctx, hostedInvoiceUrl, ...args } = props;
  const { t } = ctx;
  return (
    <>
      <div className="form without-script">
        <Notice kind="info" title={t('payment.script.title')}>
          {t('payment.script.bank')}
        </Notice>
        {hostedInvoiceUrl !== undefined && (
          <ButtonLink kind="quiet" href={hostedInvoiceUrl} block>
            {t('payment.bank.hosted')}
          </ButtonLink>
        )}
        <form method="post" action={args.action}>
          <HiddenFields fields={outcomeFields} />
          <Button block>{t('payment.bank.done')}</Button>
        </form>
      </div>
      <Island
        ctx={ctx}
        name="payment-action"
        load="idle"
        view={PaymentActionView}
        props={{
          ...args,
          waiting: t('payment.bank.waiting'),
          failedTitle: t('payment.bank.failedTitle'),
          tryAgain: t('payment.retry'),
          otherCard: t('payment.saved.other'),
          failed: t('payment.errors.failed'),
          notLoaded: t('payment.errors.notLoaded'),
        }}
      />
    </>
  );
}
