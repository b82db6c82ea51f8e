import type { TextareaHTMLAttributes } from 'react';
import { FieldFrame, type FieldWords, fieldAttributes } from './field-frame.tsx';

interface TextareaFieldProps
  extends FieldWords,
    Pick<
      TextareaHTMLAttributes<HTMLTextAreaElement>,
      'defaultValue' | 'disabled' | 'maxLength' | 'placeholder' | 'readOnly' | 'rows'
    > {
  name: string;
}

/** Several lines; it grows with its content if the browser supports that. Its id is `field-<name>`. */
export function TextareaField({ name, label, error, hint, aside, rows = 3, ...input }: TextareaFieldProps) {
  return (
    <FieldFrame name={name} label={label} error={error} hint={hint} aside={aside}>
      <textarea {...input} {...fieldAttributes(name, { error, hint })} rows={rows} />
    </FieldFrame>
  );
}
