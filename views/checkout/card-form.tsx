import type { FormEventHandler, Ref } from 'react';
import type { T } from '../../locales/index.ts';
import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';
import { FieldFrame } from '../parts/field-frame.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { Island } from '../parts/island.tsx';
import { Notice } from '../parts/notice.tsx';

/** What the browser needs to speak to Stripe itself. */
export interface StripeInPage {
  /** Of Stripe's script. */
  stripeJsUrl: string;
  publishableKey: string;
  /** Of Stripe's own words: its messages, the bank's question. */
  locale: string;
}

/** The three fields that are Stripe's, in their order; `incomplete_<name>` is Stripe's code for one that is not filled in. */
export const cardElements = ['number', 'expiry', 'cvc'] as const;

export type CardElementName = (typeof cardElements)[number];
export type CardFieldName = 'name' | CardElementName | 'zip';

export interface CardFormProps extends StripeInPage {
  /** Where the form goes once Stripe has the card. */
  action: string;
  /** What it carries along, beside the setup intent's id. */
  fields: Record<string, string>;
  /** Answers a client secret to a POST. */
  setupUrl: string;
  labels: Record<CardFieldName, string>;
  cvcHint: string;
  save: string;
  /** Not the main act of its page. */
  quiet?: boolean;
  /** What Save does. */
  saveNote?: string | undefined;
  /** 'Cannot be empty' */
  empty: string;
  /** By Stripe's codes. */
  incomplete: Record<`incomplete_${CardElementName}`, string>;
  /** When Stripe's script does not come. */
  notLoaded: string;
  /** When there is no message but that it did not work. */
  failed: string;
}

/** What the island adds. What was typed stays here: of the form only the hidden fields are sent. */
export interface CardFormLive {
  errors?: Partial<Record<CardFieldName, string>>;
  problem?: string | undefined;
  ready?: boolean;
  busy?: boolean;
  focused?: CardElementName | undefined;
  form?: Ref<HTMLFormElement>;
  onSubmit?: FormEventHandler<HTMLFormElement>;
  /** The edge of a frame was pressed, where there is nothing of Stripe's. */
  onPressed?: (name: CardElementName) => void;
  /** Something was typed into one of our own two fields. */
  onTyped?: (name: 'name' | 'zip') => void;
}

export function CardFormView(props: CardFormProps & CardFormLive) {
  const { action, fields, labels, cvcHint, save, quiet, saveNote, errors = {}, problem, ready, busy, focused } = props;
  const element = (name: CardElementName, hint?: string) => (
    <div data-look={focused === name ? 'focus' : undefined}>
      <FieldFrame name={name} label={labels[name]} error={errors[name]} hint={hint}>
        {/* biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/noStaticElementInteractions: the keyboard reaches the field itself */}
        <div className="framed card-element" id={`field-${name}`} onClick={() => props.onPressed?.(name)} />
      </FieldFrame>
    </div>
  );
  const plainField = (name: 'name' | 'zip', autoComplete: string, maxLength: number) => (
    <Field
      {...{ name, label: labels[name], error: errors[name], autoComplete, maxLength }}
      onInput={() => props.onTyped?.(name)}
    />
  );
  return (
    <form
      className="form needs-script"
      method="post"
      action={action}
      noValidate
      ref={props.form}
      onSubmit={props.onSubmit}
    >
      <HiddenFields fields={{ ...fields, setupIntent: '' }} />
      {plainField('name', 'cc-name', 200)}
      {element('number')}
      <div className="pair">
        {element('expiry')}
        {element('cvc', cvcHint)}
      </div>
      {plainField('zip', 'postal-code', 20)}
      {/* What stands in Stripe's frames cannot be described by words outside them: they are said once more. */}
      <p className="visually-hidden" role="alert">
        {cardElements.map((name) => errors[name] && `${labels[name]}: ${errors[name]} `)}
      </p>
      {problem !== undefined && <Notice kind="error">{problem}</Notice>}
      {saveNote !== undefined && <p className="small">{saveNote}</p>}
      {/* Nothing that was typed is sent by itself: the button waits for the script. */}
      <Button kind={quiet ? 'quiet' : 'primary'} block disabled={!ready} busy={busy}>
        {save}
      </Button>
    </form>
  );
}

/** Its words and values in a language. */
export function cardFormProps(
  t: T,
  state: StripeInPage & Pick<CardFormProps, 'action' | 'fields' | 'setupUrl' | 'saveNote' | 'quiet'>,
): CardFormProps {
  const label = (name: CardFieldName) => t(`payment.form.${name}`);
  return {
    ...state,
    labels: {
      name: label('name'),
      number: label('number'),
      expiry: label('expiry'),
      cvc: label('cvc'),
      zip: label('zip'),
    },
    cvcHint: t('payment.form.cvcHint'),
    save: t('payment.form.save'),
    empty: t('payment.errors.empty'),
    incomplete: {
      incomplete_number: t('payment.errors.incomplete_number'),
      incomplete_expiry: t('payment.errors.incomplete_expiry'),
      incomplete_cvc: t('payment.errors.incomplete_cvc'),
    },
    notLoaded: t('payment.errors.notLoaded'),
    failed: t('payment.errors.failed'),
  };
}

/** Name on card, Stripe's three fields, zip/postal code, Save. Card data go to Stripe alone, so that it needs scripts; without them it says so. */
export function CardForm({ ctx, ...props }: { ctx: PageContext } & CardFormProps) {
  return (
    <>
      <div className="without-script">
        <Notice kind="info" title={ctx.t('payment.script.title')}>
          {ctx.t('payment.script.card')}
        </Notice>
      </div>
      <Island ctx={ctx} name="card-form" load="idle" view={CardFormView} props={props} />
    </>
  );
}
