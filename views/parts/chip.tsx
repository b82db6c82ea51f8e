import type { ReactNode } from 'react';

/** A word about something: `accent` for what it is, `ok` for what is well, `warn` for what needs attention. */
export function Chip({
  tone = 'accent',
  children,
}: {
  tone?: 'accent' | 'plain' | 'ok' | 'warn' | 'danger';
  children: ReactNode;
}) {
  return <span className={`chip ${tone}`}>{children}</span>;
}
