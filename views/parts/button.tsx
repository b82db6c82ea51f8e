import type { ReactNode } from 'react';

interface ButtonLook {
  kind?: 'primary' | 'quiet';
  /** As wide as its container. */
  block?: boolean;
  size?: 'small';
  children: ReactNode;
}

const className = ({ kind = 'primary', block, size }: ButtonLook) =>
  ['button', kind, block ? 'block' : '', size ?? ''].filter(Boolean).join(' ');

/** Submits its form; `name` and `value` tell several buttons of one form apart. */
export function Button({ name, value, ...look }: ButtonLook & { name?: string; value?: string }) {
  return (
    <button type="submit" className={className(look)} name={name} value={value}>
      {look.children}
    </button>
  );
}

/** A link that looks like a button, for the one thing that a page wants done. */
export function ButtonLink({ href, ...look }: ButtonLook & { href: string }) {
  return (
    <a className={className(look)} href={href}>
      {look.children}
    </a>
  );
}
