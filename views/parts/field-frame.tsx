import type { ReactNode } from 'react';
import { Icon } from './icon.tsx';

export interface FieldWords {
  label: string;
  /** The error text; marks the field as invalid. */
  error?: string | undefined;
  hint?: string | undefined;
  /** Beside the label, for example a link. */
  aside?: ReactNode;
}

/**
 * The attributes that link a control to its texts: its id is `field-<name>`, those of error and hint are derived from
 * it.
 */
export function fieldAttributes(
  name: string,
  { error, hint, describedBy }: Pick<FieldWords, 'error' | 'hint'> & { describedBy?: string | undefined },
) {
  const id = `field-${name}`;
  return {
    id,
    name,
    'aria-describedby':
      [error && `${id}-error`, hint && `${id}-hint`, describedBy].filter(Boolean).join(' ') || undefined,
    'aria-invalid': error === undefined ? undefined : (true as const),
  };
}

/** The error's text with an icon, because color alone is not accessible. */
export function FieldError({ id, children }: { id: string; children: ReactNode }) {
  return (
    <p className="field-error" id={id}>
      <Icon name="alert" />
      {children}
    </p>
  );
}

/** Label, control, error and hint of one field. */
export function FieldFrame({
  name,
  label,
  error,
  hint,
  aside,
  children,
}: FieldWords & { name: string; children: ReactNode }) {
  const id = `field-${name}`;
  return (
    <div className={error === undefined ? 'field' : 'field invalid'}>
      <label htmlFor={id}>{label}</label>
      <div className="control">{children}</div>
      {/* After the control in the order of keyboards. */}
      {aside && <div className="field-aside">{aside}</div>}
      {error !== undefined && <FieldError id={`${id}-error`}>{error}</FieldError>}
      {hint !== undefined && (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
