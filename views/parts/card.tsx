import type { ReactNode } from 'react';

/** A section with its own background: `act` beside its title, `actions` at its bottom, `flush` if rows or a table fill it to the edge. */
export function Card(props: {
  id?: string;
  title?: string;
  note?: string;
  flush?: boolean;
  act?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const { id, title, note, flush, act, actions, children } = props;
  return (
    <section className={flush ? 'card flush' : 'card'} id={id}>
      {(title !== undefined || note !== undefined) && (
        <div className={act ? 'card-head with-act' : 'card-head'}>
          {title !== undefined && <h2>{title}</h2>}
          {act}
          {note !== undefined && <p className="muted small">{note}</p>}
        </div>
      )}
      {children}
      {actions !== undefined && <div className="actions">{actions}</div>}
    </section>
  );
}
