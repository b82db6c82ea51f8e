import type { ReactNode } from 'react';

export function Card({ title, note, children }: { title?: string; note?: string; children: ReactNode }) {
  return (
    <section className="card">
      {title !== undefined && <h2>{title}</h2>}
      {note !== undefined && <p className="muted small">{note}</p>}
      {children}
    </section>
  );
}
