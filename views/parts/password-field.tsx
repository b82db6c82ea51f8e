import type { ComponentProps } from 'react';
import type { T } from '../../locales/index.ts';
import { Field } from './field.tsx';

/** A password input. The button that shows what was typed appears only when the script `password` runs. */
export function PasswordField({ t, ...field }: { t: T } & Omit<ComponentProps<typeof Field>, 'inside' | 'type'>) {
  return (
    <Field
      {...field}
      type="password"
      autoCapitalize="none"
      spellCheck={false}
      inside={
        <button
          type="button"
          className="reveal"
          aria-controls={`field-${field.name}`}
          data-show={t('common.password.show')}
          data-hide={t('common.password.hide')}
          hidden
        >
          {t('common.password.show')}
        </button>
      }
    />
  );
}
