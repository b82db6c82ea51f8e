import type { ComponentProps } from 'react';
import type { PageContext } from '../page-context.ts';
import { Field } from './field.tsx';
import { Island } from './island.tsx';
import { RevealView } from './reveal.tsx';

type PasswordFieldProps = { ctx: PageContext } & Omit<ComponentProps<typeof Field>, 'inside' | 'type'>;

/** A password input. With scripts, a button in it shows the input. */
export function PasswordField({ ctx, ...field }: PasswordFieldProps) {
  const reveal = { controls: `field-${field.name}`, label: ctx.t('common.showPassword') };
  return (
    <Field
      {...field}
      type="password"
      autoCapitalize="none"
      spellCheck={false}
      inside={<Island ctx={ctx} name="reveal" view={RevealView} props={reveal} />}
    />
  );
}
