import type { ReactNode } from 'react';

/** Names and what is stored under them, to read. */
export function Facts({ facts }: { facts: readonly { label: string; value: ReactNode; quiet?: boolean }[] }) {
  return (
    <dl className="facts">
      {facts.map(({ label, value, quiet }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd className={quiet ? 'muted' : undefined}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
