import type { ReactNode } from 'react';
import type { T } from '../../locales/index.ts';
import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { Icon } from '../parts/icon.tsx';
import { Notice } from '../parts/notice.tsx';
import { PageNotice, type PageNoticeProps } from '../parts/page-notice.tsx';
import { Script } from '../parts/script.tsx';
import { type SummaryLine, SummaryList } from '../parts/summary-list.tsx';
import { BeginBox, type BeginBoxProps } from './begin-box.tsx';
import { DetailsLine, type DetailsView } from './billing-details-fields.tsx';
import { CardForm, chargeNote, SecuredLine, type StripeInPage } from './card-form.tsx';
import { type CardView, cardExpiry, cardName, expires, isBankDebit } from './card-name.ts';
import { type CheckoutKind, CheckoutSteps } from './checkout-steps.tsx';
import { PaymentAction } from './payment-action.tsx';

interface PaymentPageFrame {
  ctx: PageContext;
  /** The kind of steps above it. */
  steps: CheckoutKind;
  stripe: StripeInPage;
  /** Of this page, the target of its forms. */
  action: string;
  /** Of the plan's summary. */
  backHref: string;
}

/** A payment method that the user's bank has confirmed on its own page; it is not saved yet. */
export interface ReturnedMethod {
  card: CardView;
  setupIntent: string;
}

export interface PaymentPageProps extends PaymentPageFrame {
  setupUrl: string;
  /** The billing details, and their form. */
  details: { view: DetailsView; href: string; country?: string | undefined };
  notice?: PageNoticeProps | undefined;
  /** The amount; without it there is nothing to confirm for the moment. */
  quote?:
    | {
        lines: readonly SummaryLine[];
        total: SummaryLine;
        included: readonly SummaryLine[];
        later?: SummaryLine;
        note: readonly string[];
        lost?: { label: string; items: readonly string[] };
        /** The name of the plan. */
        plan: string;
        /** It begins with free days. */
        isTrial: boolean;
        /** The announced values. */
        announced: Record<string, string>;
        /** Due today, as text; undefined: nothing. */
        due: string | undefined;
        /** The words of a button that obliges to pay; undefined: nothing is ever charged. */
        order: string | undefined;
        /** Of an order of which the member owes the days until a withdrawal. */
        begin?: BeginBoxProps | undefined;
      }
    | undefined;
  returned?: ReturnedMethod | undefined;
  /** The card that would be charged. */
  card?: CardView | undefined;
  /** An order is refused for some time: only "Back" is left. */
  mustWait?: boolean | undefined;
  /** While Stripe is unavailable: the submitted values, to be sent again; without them the page is loaded again. */
  retryFields: Record<string, string>;
}

const TheLayout = ({
  ctx,
  steps,
  title,
  lead,
  children,
}: Pick<PaymentPageFrame, 'ctx' | 'steps'> & { title: string; lead?: string; children: ReactNode }) => (
  <AuthLayout ctx={ctx} long signOut>
    <Script ctx={ctx} entry="busy" />
    <CheckoutSteps ctx={ctx} kind={steps} />
    <div className="panel-head">
      <h1>{title}</h1>
      {lead !== undefined && <p className="muted">{lead}</p>}
    </div>
    {children}
  </AuthLayout>
);

/** Not among the icons of the browser's code: these pages alone show it, without a script. */
const CardIcon = () => (
  <svg className="icon" width="20" height="20" viewBox="0 0 20 20" fill="none" aria-hidden="true">
    <path d="M3.5 4.5h13a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-13a1 1 0 0 1-1-1v-9a1 1 0 0 1 1-1zM2.5 8h15M5.5 12.5h3" />
  </svg>
);

/** `Your card: Visa •••• 4242, valid until 04/2030`. */
export function SavedMethod(props: { t: T; card: CardView; refused?: boolean; note?: string | undefined }) {
  const { t, card, refused, note } = props;
  const expiry = cardExpiry(card);
  const label = t(expiry === undefined ? 'payment.methods.label' : 'payment.saved.label');
  const hasHyphen = card.brand === 'sepa_debit';
  return (
    <p className={refused ? 'saved-method refused' : 'saved-method'}>
      <CardIcon />
      <span>
        {t('mail.labelled', { label })}{' '}
        <strong className={hasHyphen ? 'unbroken' : undefined}>{cardName(t, card)}</strong>
        {expiry !== undefined && (
          <>
            , <span className="unbroken">{t('payment.saved.expiry', { date: expiry })}</span>
          </>
        )}
        {note !== undefined && <small className="muted">{note}</small>}
      </span>
    </p>
  );
}

/** The saved card, charged without entering it again; it needs no scripts. */
function SavedCard({
  ctx: { t },
  action,
  card,
  refused,
  fields = {},
  quote: { announced, due, order, begin },
}: Pick<PaymentPageFrame, 'ctx' | 'action'> & {
  card: CardView;
  /** It has just been refused. */
  refused: boolean;
  fields?: Record<string, string>;
  quote: NonNullable<PaymentPageProps['quote']>;
}) {
  return (
    <form className="form" method="post" action={action}>
      <HiddenFields fields={{ ...announced, ...fields }} />
      <SavedMethod
        t={t}
        card={card}
        refused={refused}
        note={due !== undefined && isBankDebit(card) ? t('payment.methods.debitTakes') : undefined}
      />
      {begin && <BeginBox {...begin} idName="beginSaved" />}
      <Button kind={refused ? 'quiet' : 'primary'} block>
        {order === undefined ? t(expires(card) ? 'payment.saved.use' : 'payment.methods.use') : order}
      </Button>
    </form>
  );
}

/** The form of a method: below a saved one it has a title, and is folded while that can be used. */
function MethodFold({ title, isOpen, children }: { title: string | undefined; isOpen: boolean; children: ReactNode }) {
  if (title === undefined) return children;
  return (
    <details className="fold" open={isOpen}>
      <summary>
        {title} <Icon name="down" />
      </summary>
      <div className="stack">{children}</div>
    </details>
  );
}

/** While Stripe is unavailable: repeats the submission; without one it loads the page again. */
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

const isDue = (quote: PaymentPageProps['quote']) => quote?.due !== undefined;

/** Tests for a heading that names the plan: the specification's stands above the payment method then. */
const namesPlan = (quote: PaymentPageProps['quote']) => isDue(quote) || quote?.isTrial === true;

function toHeading(t: T, quote: PaymentPageProps['quote']): string {
  if (!quote || !namesPlan(quote)) return t('payment.heading');
  return t(quote.isTrial ? 'payment.tryPlan' : 'payment.payFor', { plan: quote.plan });
}

/** The heading of the payment method, with the messages: a refusal stands below it, beside the method. */
function MethodHead({ ctx, quote, notice, returned }: PaymentPageProps) {
  const { t } = ctx;
  const message = <PageNotice ctx={ctx} notice={notice} />;
  const isRefusal = notice?.kind === 'error';
  return (
    <>
      {!isRefusal && message}
      {returned && <Notice kind="success">{t('payment.methods.confirmed')}</Notice>}
      {namesPlan(quote) && <h2>{t('payment.heading')}</h2>}
      {isRefusal && message}
    </>
  );
}

/** The form for a method that is not saved. */
function AnotherMethod({
  ctx,
  stripe,
  action,
  setupUrl,
  details,
  quote,
  card,
  savedFirst,
}: PaymentPageProps & { quote: NonNullable<PaymentPageProps['quote']>; savedFirst: boolean }) {
  const { t } = ctx;
  const kind = stripe.methods ? 'methods' : 'saved';
  return (
    <MethodFold title={card && t(`payment.${kind}.another`)} isOpen={!savedFirst}>
      <CardForm
        ctx={ctx}
        stripe={stripe}
        action={action}
        setupUrl={setupUrl}
        fields={{ ...quote.announced, act: 'save-card' }}
        kind={savedFirst ? 'quiet' : 'primary'}
        country={details.country}
        save={card && quote.order !== undefined ? t(`payment.${kind}.payNew`, { order: quote.order }) : quote.order}
        saveNote={chargeNote(ctx, stripe, quote.due)}
        begin={quote.begin}
      />
    </MethodFold>
  );
}

/** 'Payment Method': the amount, the saved card, the form for another (specification, section 2, step 2). */
export function PaymentPage(props: PaymentPageProps) {
  const { ctx, steps, stripe, action, backHref, details, notice, quote, returned, mustWait } = props;
  const card = returned?.card ?? props.card;
  const fields = returned && { act: 'save-card', setupIntent: returned.setupIntent };
  const { t } = ctx;
  // Most users choose the saved card, unless it has just been refused.
  const isRefused = notice?.kind === 'error';
  const savedFirst = card !== undefined && !isRefused;
  if (mustWait) {
    return (
      <TheLayout ctx={ctx} steps={steps} title={toHeading(t, quote)}>
        <PageNotice ctx={ctx} notice={notice} />
        {quote && <SummaryList {...quote} />}
        <ButtonLink kind="quiet" href={backHref} block>
          {t('payment.saved.back')}
        </ButtonLink>
      </TheLayout>
    );
  }
  return (
    <TheLayout ctx={ctx} steps={steps} title={toHeading(t, quote)}>
      {quote && <SummaryList {...quote} />}
      <DetailsLine ctx={ctx} details={details.view} href={details.href} />
      <MethodHead {...props} />
      {quote && card && <SavedCard {...props} card={card} fields={fields} refused={isRefused} quote={quote} />}
      {quote && <AnotherMethod {...props} quote={quote} card={card} savedFirst={savedFirst} />}
      {!quote && <Retry ctx={ctx} action={action} fields={props.retryFields} />}
      {quote && <SecuredLine ctx={ctx} methods={stripe.methods !== undefined} />}
      <p className="panel-ways">
        <a href={backHref}>{t('payment.saved.back')}</a>
      </p>
    </TheLayout>
  );
}

interface PaymentActionPageProps extends PaymentPageFrame {
  clientSecret: string;
  paymentMethodId: string | undefined;
  /** As text. */
  amount: string;
  retryFields: Record<string, string>;
  hostedInvoiceUrl: string | undefined;
}

/** The bank authenticates the user before it pays (3-D Secure). */
export function PaymentActionPage(props: PaymentActionPageProps) {
  const { ctx, steps, stripe, action, backHref, amount, ...payment } = props;
  const { t } = ctx;
  return (
    <TheLayout ctx={ctx} steps={steps} title={t('payment.bank.title')} lead={t('payment.bank.lead', { amount })}>
      <PaymentAction ctx={ctx} {...stripe} {...payment} action={action} otherCardHref={action} />
      <p className="panel-ways">
        <a href={backHref}>{t('payment.saved.back')}</a>
      </p>
    </TheLayout>
  );
}
