import type { ReactNode } from 'react';
import type { T } from '../../locales/index.ts';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';

interface SeatsFieldProps {
  t: T;
  range: { min: number; max: number };
  /** As it was typed. */
  typed: string;
  error?: string | undefined;
  /** The button beside the number. */
  inside?: ReactNode;
}

/** The number of seats. */
export const SeatsField = ({ t, range, typed, error, inside }: SeatsFieldProps) => (
  <Field
    name="seats"
    label={t('checkout.seats.label')}
    hint={t('checkout.seats.hint', range)}
    type="number"
    inputMode="numeric"
    min={range.min}
    max={range.max}
    step={1}
    autoComplete="off"
    defaultValue={typed}
    error={error}
    inside={inside}
  />
);

export interface SeatsBoxState extends Omit<SeatsFieldProps, 't' | 'inside'> {
  /** The plan on the page. */
  planId: string;
}

/** 'Seats': a form of its own, after which the page announces another amount. */
export function SeatsBox({ t, action, state }: { t: T; action: string; state: SeatsBoxState }) {
  const { planId, ...field } = state;
  return (
    <form className="form" method="post" action={action} noValidate data-in-place="">
      <HiddenFields fields={{ act: 'seats', planId }} />
      <SeatsField t={t} {...field} inside={<Button kind="quiet">{t('checkout.seats.update')}</Button>} />
    </form>
  );
}
