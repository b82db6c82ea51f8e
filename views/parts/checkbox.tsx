import type { ReactNode } from 'react';
import { FieldError, fieldAttributes } from './field-frame.tsx';

interface CheckboxProps {
  name: string;
  /** In place of the name in its id: two forms of a page have a box of this name. */
  idName?: string | undefined;
  /** May hold a link. */
  label: ReactNode;
  value?: string;
  checked?: boolean;
  disabled?: boolean;
  error?: string | undefined;
  /** The browser asks for it: where a script sends the form before the server could. */
  required?: boolean;
}

export function Checkbox({
  name,
  idName = name,
  label,
  value = '1',
  checked,
  disabled,
  error,
  required,
}: CheckboxProps) {
  return (
    <div className={error === undefined ? 'check' : 'check invalid'}>
      <label className="checkbox">
        <input
          {...fieldAttributes(idName, { error })}
          name={name}
          className="tick"
          type="checkbox"
          value={value}
          defaultChecked={checked}
          disabled={disabled}
          required={required}
        />
        <span>{label}</span>
      </label>
      {error !== undefined && <FieldError id={`field-${idName}-error`}>{error}</FieldError>}
    </div>
  );
}
