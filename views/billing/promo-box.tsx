import type { T } from '../../locales/index.ts';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';

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

/** 'Promo Code': a separate form. An applied code can only be removed; there is never a second one. */
export function PromoBox(props: { t: T; action: string; state: PromoBoxState }) {
  const { t, action, state } = props;
  const applied = 'applied' in state;
  return (
    <form className="form" method="post" action={action} noValidate data-in-place="">
      <HiddenFields fields={{ act: applied ? 'promo-remove' : 'promo', planId: state.planId }} />
      {applied ? (
        <div className="field-head">
          <p role="status">
            {t('mail.labelled', { label: t('checkout.promo.applied') })} <strong>{state.applied}</strong>
          </p>
          <Button kind="link" size="small">
            {t('checkout.promo.remove')}
            <span className="visually-hidden"> {state.applied}</span>
          </Button>
        </div>
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
}
