import type { T } from '../../locales/index.ts';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { Icon } from '../parts/icon.tsx';
import { Notice } from '../parts/notice.tsx';
import type { SummaryLine } from '../parts/summary-list.tsx';

export type PromoBoxState = {
  /** The plan on the page, to which the code applies. */
  planId: string;
} & (
  | {
      applied: string;
      /** This page is the answer to it. */
      isNew: boolean;
    }
  | {
      /** The refused input. */
      typed: string;
      error?: string | undefined;
    }
);

interface PromoBoxProps {
  t: T;
  action: string;
  state: PromoBoxState;
}

/** An applied code can only be removed: there is never a second one. */
const RemoveCode = ({ t, action, planId, code }: Omit<PromoBoxProps, 'state'> & { planId: string; code: string }) => (
  <form className="remove-code" method="post" action={action} data-in-place="">
    <HiddenFields fields={{ act: 'promo-remove', planId }} />
    <Button kind="link" size="small">
      {t('checkout.promo.remove')}
      <span className="visually-hidden"> {code}</span>
    </Button>
  </form>
);

const deducts = (lines: readonly SummaryLine[], code: string) => lines.some((line) => line.code === code);

/** The lines of an order: that of the applied code has the button that removes it. */
export function withRemoval(
  { t, action, state }: Omit<PromoBoxProps, 'state'> & { state: PromoBoxState | undefined },
  lines: readonly SummaryLine[],
): readonly SummaryLine[] {
  if (state === undefined || !('applied' in state)) return lines;
  const act = <RemoveCode t={t} action={action} planId={state.planId} code={state.applied} />;
  return lines.map((line) => (line.code === state.applied ? { ...line, act } : line));
}

/** 'Promo Code': a separate form, folded until it is needed. @param lines of the order below it */
export function PromoBox({ t, action, state, lines }: PromoBoxProps & { lines: readonly SummaryLine[] }) {
  if ('applied' in state) {
    const { applied, planId, isNew } = state;
    return (
      <>
        {isNew && <Notice kind="success">{t('checkout.promo.applied')}</Notice>}
        {!deducts(lines, applied) && (
          <div className="field-head applied-code">
            <p>{t('checkout.lines.promo', { code: applied })}</p>
            <RemoveCode t={t} action={action} planId={planId} code={applied} />
          </div>
        )}
      </>
    );
  }
  return (
    <details className="fold" open={state.typed !== '' || state.error !== undefined}>
      <summary>
        {t('checkout.promo.open')} <Icon name="down" />
      </summary>
      <form className="form" method="post" action={action} noValidate data-in-place="">
        <HiddenFields fields={{ act: 'promo', planId: state.planId }} />
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
      </form>
    </details>
  );
}
