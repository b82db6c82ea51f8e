import type { T } from '../../locales/index.ts';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';

export type PromoBoxState = {
  /** The plan that the page shows, to which the code is applied. */
  planId: string;
} & (
  | { applied: string }
  | {
      /** What was typed and refused. */
      typed: string;
      error?: string | undefined;
    }
);

/** 'Promo Code': a form of its own. What is applied can only be taken off again; there is never a second one. */
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
