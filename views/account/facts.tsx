import type { ReactNode } from 'react';

/** Labels and stored values. */
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
