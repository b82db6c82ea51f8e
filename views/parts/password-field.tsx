import type { ComponentProps } from 'react';
import type { T } from '../../locales/index.ts';
import { Field } from './field.tsx';
import { Icon } from './icon.tsx';

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
          aria-label={t('common.showPassword')}
          aria-pressed={false}
          hidden
        >
          <Icon name="eye" />
        </button>
      }
    />
  );
}
