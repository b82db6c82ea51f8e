import type { InputHTMLAttributes, ReactNode, Ref } from 'react';
import { Icon } from './icon.tsx';

export interface FieldProps
  extends Pick<
    InputHTMLAttributes<HTMLInputElement>,
    | 'autoCapitalize'
    | 'autoComplete'
    | 'autoFocus'
    | 'defaultValue'
    | 'inputMode'
    | 'onInput'
    | 'placeholder'
    | 'spellCheck'
    | 'type'
  > {
  name: string;
  label: string;
  /** The error in words; marks the field as invalid. */
  error?: string | undefined;
  hint?: string | undefined;
  /** Beside the label, for example a link. */
  aside?: ReactNode;
  /** Inside the control's frame, at its end. */
  inside?: ReactNode;
  ref?: Ref<HTMLInputElement> | undefined;
}

/** A labelled input with its hint and error. Its id is `field-<name>`. */
export function Field({ name, label, error, hint, aside, inside, ...input }: FieldProps) {
  const id = `field-${name}`;
  const describedBy = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(' ') || undefined;
  return (
    <div className={error === undefined ? 'field' : 'field invalid'}>
      <div className="field-head">
        <label htmlFor={id}>{label}</label>
        {aside}
      </div>
      <div className="control">
        <input
          {...input}
          id={id}
          name={name}
          aria-describedby={describedBy}
          aria-invalid={error === undefined ? undefined : true}
        />
        {inside}
      </div>
      {error !== undefined && (
        <p className="field-error" id={`${id}-error`}>
          <Icon name="alert" />
          {error}
        </p>
      )}
      {hint !== undefined && (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
