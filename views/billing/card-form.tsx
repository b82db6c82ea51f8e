import type { T } from '../../locales/index.ts';
import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { ErrorSummary } from '../parts/error-summary.tsx';
import { Field } from '../parts/field.tsx';
import { FieldFrame } from '../parts/field-frame.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { Icon } from '../parts/icon.tsx';
import { Island } from '../parts/island.tsx';
import { Notice } from '../parts/notice.tsx';
import { Stylesheet } from '../parts/stylesheet.tsx';
import { BeginBox, type BeginBoxProps } from './begin-box.tsx';

/** The data with which the browser calls Stripe itself. */
export interface StripeForCards {
  /** Of Stripe's script. */
  stripeJsUrl: string;
  publishableKey: string;
  /** Language of Stripe's own texts: its messages, the bank's page. */
  locale: string;
  /** The methods of Stripe's payment element; undefined: its card fields. */
  methods?: { types: readonly string[]; applePay: boolean; googlePay: boolean; currency: string };
}

/** The same where Stripe refuses a payment. */
export interface StripeInPage extends StripeForCards {
  /** Why it was refused, by Stripe's codes: Stripe.js says some of them in English alone. */
  refusals: Record<string, string>;
}

/** Stripe's three fields, in their order; `incomplete_<name>` is Stripe's code for an incomplete one. */
export const cardElements = ['number', 'expiry', 'cvc'] as const;

export type CardElementName = (typeof cardElements)[number];
export type CardFieldName = 'name' | CardElementName | 'zip';

/** All fields of a card, in their order. */
export const cardFields: readonly CardFieldName[] = ['name', ...cardElements, 'zip'];

/** The id of the form around the island. Its last element is its button, which waits for the script. */
export const cardFormId = 'pay';

export interface CardFieldsProps extends StripeForCards {
  /** Answers a client secret to a POST. */
  setupUrl: string;
  labels: Record<CardFieldName, string>;
  cvcHint: string;
  /** The field that has the focus at the start, once scripts have shown the form; '' for none. */
  focus: 'name' | '';
  /** 'Cannot be empty' */
  empty: string;
  /** Above the links to the fields with errors. */
  errorSummary: string;
  /** By Stripe's codes: of incomplete fields, and of refusals. */
  faults: Record<string, string>;
  /** Shown if Stripe's script cannot be loaded. */
  notLoaded: string;
  /** Shown if a failure has no message of its own. */
  failed: string;
}

/** The island's part. Card input stays in the browser: the form only sends its hidden fields. */
export interface CardFieldsLive {
  errors?: Partial<Record<CardFieldName, string>>;
  /** The button was pressed with errors: their fields are listed above the form. */
  summary?: boolean;
  problem?: string | undefined;
  focused?: CardElementName | undefined;
  /** A frame was focused, which is outside of Stripe's field. */
  onFrameFocus?: (name: CardElementName) => void;
  /** One of Foyer's own two fields has changed. */
  onTyped?: (name: 'name' | 'zip') => void;
}

/** Stripe's fields and Foyer's own two, inside the form: without its button, so that other markup can stand before that. */
export function CardFieldsView(props: CardFieldsProps & CardFieldsLive) {
  const { labels, cvcHint, errors = {}, problem, focused } = props;
  const element = (name: CardElementName, hint?: string) => (
    <div data-look={focused === name ? 'focus' : undefined}>
      <FieldFrame name={name} label={labels[name]} error={errors[name]} hint={hint}>
        {/* A click on its edge and the links above the form focus it. The keyboard reaches Stripe's field itself. */}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: it only passes the focus on */}
        <div
          className="framed card-element"
          id={`field-${name}`}
          tabIndex={-1}
          onFocus={() => props.onFrameFocus?.(name)}
        />
      </FieldFrame>
    </div>
  );
  const plainField = (name: 'name' | 'zip', autoComplete: string, maxLength: number) => (
    <Field
      name={name}
      label={labels[name]}
      error={errors[name]}
      autoComplete={autoComplete}
      maxLength={maxLength}
      onInput={() => props.onTyped?.(name)}
    />
  );
  return (
    <>
      {/* The alert below the fields repeats the errors for screen readers. */}
      {props.summary && (
        <ErrorSummary title={props.errorSummary} labels={labels} fields={cardFields.filter((name) => errors[name])} />
      )}
      {props.methods ? (
        // Stripe's payment element asks for everything itself.
        <div className="payment-element" id="field-payment" />
      ) : (
        <>
          {plainField('name', 'cc-name', 200)}
          {element('number')}
          <div className="pair always">
            {element('expiry')}
            {element('cvc', cvcHint)}
          </div>
          {plainField('zip', 'postal-code', 20)}
        </>
      )}
      {/* Text outside of Stripe's frames cannot describe their content: it is repeated for screen readers. */}
      <p className="visually-hidden" role="alert">
        {cardElements.map((name) => errors[name] && `${labels[name]}: ${errors[name]} `)}
      </p>
      {problem && <Notice kind="error">{problem}</Notice>}
    </>
  );
}

/** Only the United States say ZIP; without a known country the label has both words. */
function zipLabel(t: T, country: string | undefined): string {
  if (country === undefined) return t('payment.form.zip');
  return t(country === 'US' ? 'payment.form.zipUs' : 'payment.details.fields.postalCode');
}

interface CardFormProps {
  ctx: PageContext;
  stripe: StripeInPage;
  /** The target of the form after Stripe has stored the card. */
  action: string;
  /** Its hidden fields besides the setup intent's id. */
  fields: Record<string, string>;
  setupUrl: string;
  /** Save, unless it obliges to pay. */
  save?: string | undefined;
  /** The effect of Save. */
  saveNote?: string | undefined;
  /** Of its button: `quiet` where it is not the main action of its page. */
  kind?: 'primary' | 'quiet';
  /** ISO 3166-1 code of the user's country, if it is known. */
  country?: string | undefined;
  /** The box right above its button. The browser asks for it before the island does anything. */
  begin?: BeginBoxProps | undefined;
}

/** The island's texts and values in a language. */
function cardFieldsProps({ ctx: { t }, stripe, setupUrl, kind, country }: CardFormProps): CardFieldsProps {
  const label = (name: CardFieldName) => t(`payment.form.${name}`);
  const { refusals, ...page } = stripe;
  return {
    ...page,
    setupUrl,
    focus: kind === 'quiet' || stripe.methods ? '' : 'name',
    labels: {
      name: label('name'),
      number: label('number'),
      expiry: label('expiry'),
      cvc: label('cvc'),
      zip: zipLabel(t, country),
    },
    cvcHint: t('payment.form.cvcHint'),
    empty: t('payment.errors.empty'),
    errorSummary: t('common.checkFields'),
    faults: {
      ...refusals,
      incomplete_number: t('payment.errors.incomplete_number'),
      incomplete_expiry: t('payment.errors.incomplete_expiry'),
      incomplete_cvc: t('payment.errors.incomplete_cvc'),
    },
    notLoaded: t('payment.errors.notLoaded'),
    failed: t('payment.errors.failed'),
  };
}

/** Before the button, where the total above does not say all. */
export function chargeNote({ t }: PageContext, { methods }: StripeInPage, due: string | undefined): string | undefined {
  if (due === undefined) return t(`payment.${methods ? 'methods' : 'charge'}.nothing`);
  const { types = [] } = methods ?? {};
  if (types.every((type) => type === 'card' || type === 'link')) return undefined;
  return t('payment.methods.debitTakes');
}

/** Below the ways to pay: Stripe has the data of the card. */
export const SecuredLine = ({ ctx: { t }, methods }: { ctx: PageContext; methods: boolean }) => (
  <p className="secured">
    <Icon name="lock" />
    <span>
      <strong>{t('payment.secured')}</strong> {t(methods ? 'payment.methods.lead' : 'payment.lead')}
    </span>
  </p>
);

/**
 * Name on card, Stripe's three fields, zip/postal code, Save. Card data go only to Stripe, so the form needs scripts;
 * without them it says so.
 */
export function CardForm(props: CardFormProps) {
  const { ctx, stripe, action, fields, save, saveNote, kind = 'primary', begin } = props;
  return (
    <>
      <Stylesheet ctx={ctx} name="checkout" />
      <div className="without-script">
        <Notice kind="info" title={ctx.t('payment.script.title')}>
          {ctx.t(stripe.methods ? 'payment.methods.script' : 'payment.script.card')}
        </Notice>
      </div>
      <form className="form needs-script" id={cardFormId} method="post" action={action}>
        <HiddenFields fields={{ ...fields, setupIntent: '' }} />
        <Island ctx={ctx} name="card-form" load="idle" view={CardFieldsView} props={cardFieldsProps(props)} />
        {saveNote !== undefined && <p className="muted small">{saveNote}</p>}
        {begin && <BeginBox {...begin} required />}
        {/* The button waits for the script, so that the form never sends input by itself. */}
        <Button kind={kind} block disabled>
          {save ?? ctx.t('payment.form.save')}
        </Button>
      </form>
    </>
  );
}
