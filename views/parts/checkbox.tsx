import type { ReactNode } from 'react';
import { FieldError, fieldAttributes } from './field-frame.tsx';

interface CheckboxProps {
  name: string;
  /** May hold a link. */
  label: ReactNode;
  value?: string;
  checked?: boolean;
  disabled?: boolean;
  error?: string | undefined;
}

export function Checkbox({ name, label, value = '1', checked, disabled, error }: CheckboxProps) {
  return (
    <div className={error === undefined ? 'check' : 'check invalid'}>
      <label className="checkbox">
        <input
          {...fieldAttributes(name, { error })}
          className="tick"
          type="checkbox"
          value={value}
          defaultChecked={checked}
          disabled={disabled}
        />
        <span>{label}</span>
      </label>
      {error !== undefined && <FieldError id={`field-${name}-error`}>{error}</FieldError>}
    </div>
  );
}
