import type { InputHTMLAttributes, ReactNode, Ref } from 'react';
import { FieldFrame, type FieldWords, fieldAttributes } from './field-frame.tsx';

type InputAttributes = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  | 'autoCapitalize'
  | 'autoComplete'
  | 'autoFocus'
  | 'defaultValue'
  | 'disabled'
  | 'inputMode'
  | 'max'
  | 'maxLength'
  | 'min'
  | 'onInput'
  | 'placeholder'
  | 'readOnly'
  | 'spellCheck'
  | 'step'
  | 'type'
>;

interface FieldProps extends FieldWords, InputAttributes {
  name: string;
  /** Inside the control's frame, at its end. */
  inside?: ReactNode;
  ref?: Ref<HTMLInputElement> | undefined;
  /** The id of another element that describes it. */
  describedBy?: string;
}

/** A labelled input with its hint and error. Its id is `field-<name>`. */
export function Field({ name, label, error, hint, aside, inside, describedBy, ...input }: FieldProps) {
  return (
    <FieldFrame name={name} label={label} error={error} hint={hint} aside={aside}>
      {/* A field without a type is for names, which may be written from right to left. */}
      <input
        dir={input.type ? undefined : 'auto'}
        {...input}
        {...fieldAttributes(name, { error, hint, describedBy })}
      />
      {inside}
    </FieldFrame>
  );
}
