import type { FormEventHandler, Ref } from 'react';
import type { PageContext } from '../page-context.ts';
import { Field } from './field.tsx';
import { Island } from './island.tsx';

export interface CodeInputProps {
  name: string;
  label: string;
  hint?: string;
  error?: string;
  /** How many digits the code has. */
  length: number;
  /** The error when the form is sent with fewer digits. */
  incomplete: string;
  autoFocus?: boolean;
}

type Live = { input?: Ref<HTMLInputElement>; onInput?: FormEventHandler<HTMLInputElement> };

/** One field for a one-time code: phones offer the code from the message, and a paste may have spaces in it. */
export function CodeInputView({ name, label, hint, error, autoFocus, input, onInput }: CodeInputProps & Live) {
  return (
    <div className="code-input">
      <Field
        name={name}
        label={label}
        hint={hint}
        error={error}
        type="text"
        inputMode="numeric"
        autoComplete="one-time-code"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus={autoFocus}
        ref={input}
        onInput={onInput}
      />
    </div>
  );
}

/** Where scripts run, only digits stay and only a whole code is sent; the server holds to the same without them. */
export function CodeInput({ ctx, ...props }: { ctx: PageContext } & CodeInputProps) {
  return <Island ctx={ctx} name="code-input" view={CodeInputView} props={props} />;
}
