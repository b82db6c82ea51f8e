import type { ReactNode } from 'react';

/** A label: `accent` for a property, `ok` for a good state, `warn` for one that needs attention. */
export function Chip({
  tone = 'accent',
  children,
}: {
  tone?: 'accent' | 'plain' | 'ok' | 'warn' | 'danger';
  children: ReactNode;
}) {
  return <span className={`chip ${tone}`}>{children}</span>;
}
