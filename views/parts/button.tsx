import type { ReactNode } from 'react';

interface ButtonLook {
  /** One `primary` per page; `danger` destroys; `link` is the least important of several actions. */
  kind?: 'primary' | 'quiet' | 'danger' | 'link';
  /** As wide as its container. */
  block?: boolean;
  size?: 'small';
  children: ReactNode;
}

interface ButtonProps extends ButtonLook {
  type?: 'submit' | 'button';
  name?: string;
  value?: string;
  disabled?: boolean;
  /**
   * Busy: the text stays, an arch turns beside it, and a second click does nothing. The script `busy` does the same.
   */
  busy?: boolean;
  /** The id of its form, if it is outside, and another address than the form's. */
  form?: string | undefined;
  formAction?: string | undefined;
}

const className = ({ kind = 'primary', block, size }: ButtonLook) =>
  ['button', kind, block ? 'block' : '', size ?? ''].filter(Boolean).join(' ');

/** Submits its form; `name` and `value` distinguish several buttons of one form. */
export function Button({ type = 'submit', name, value, disabled, busy, form, formAction, ...look }: ButtonProps) {
  return (
    <button
      type={type}
      className={className(look)}
      name={name}
      value={value}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      form={form}
      formAction={formAction}
    >
      {look.children}
    </button>
  );
}

/** A link that looks like a button, for the main action of a page. `isStep`: a dialog shows the next page, too. */
export function ButtonLink({ href, isStep, ...look }: ButtonLook & { href: string; isStep?: boolean }) {
  return (
    <a className={className(look)} href={href} data-step={isStep ? '' : undefined}>
      {look.children}
    </a>
  );
}
