import type { T } from '../../locales/index.ts';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { Icon } from '../parts/icon.tsx';

export type PromoBoxState = {
  /** The plan on the page, to which the code applies. */
  planId: string;
} & (
  | { applied: string }
  | {
      /** The refused input. */
      typed: string;
      error?: string | undefined;
    }
);

/** An applied code, which can only be removed: there is never a second one. */
function AppliedCode({ t, code }: { t: T; code: string }) {
  return (
    <div className="field-head applied-code">
      <p role="status">
        {t('mail.labelled', { label: t('checkout.promo.applied') })} <strong>{code}</strong>
      </p>
      <Button kind="link" size="small">
        {t('checkout.promo.remove')}
        <span className="visually-hidden"> {code}</span>
      </Button>
    </div>
  );
}

/** 'Promo Code': a separate form, folded until it is needed. */
export function PromoBox({ t, action, state }: { t: T; action: string; state: PromoBoxState }) {
  const applied = 'applied' in state;
  const form = (
    <form className="form" method="post" action={action} noValidate data-in-place="">
      <HiddenFields fields={{ act: applied ? 'promo-remove' : 'promo', planId: state.planId }} />
      {applied ? (
        <AppliedCode t={t} code={state.applied} />
      ) : (
        <Field
          name="promo"
          label={t('checkout.promo.label')}
          defaultValue={state.typed}
          error={state.error}
          maxLength={100}
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          inside={<Button kind="quiet">{t('checkout.promo.apply')}</Button>}
        />
      )}
    </form>
  );
  if (applied) return form;
  return (
    <details className="fold" open={state.typed !== '' || state.error !== undefined}>
      <summary>
        {t('checkout.promo.open')} <Icon name="down" />
      </summary>
      {form}
    </details>
  );
}
