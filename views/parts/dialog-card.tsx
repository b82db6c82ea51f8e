import type { ReactNode } from 'react';
import { Icon } from './icon.tsx';

export interface DialogCardProps {
  id: string;
  title: string;
  lead?: string;
  /** The page that the dialog lies on: closing it goes there. */
  closeHref: string;
  closeLabel: string;
  /** `h1` where the dialog is a page of its own. */
  level?: 'h1' | 'h2';
  children: ReactNode;
}

/** One act in a box, on a page of its own. A `DialogLink` elsewhere lifts this element into a dialog there (`data-lift`). */
export function DialogCard({
  id,
  title,
  lead,
  closeHref,
  closeLabel,
  level: Heading = 'h1',
  children,
}: DialogCardProps) {
  return (
    <section className="dialog-card" id={id} data-lift="" aria-labelledby={`${id}-title`}>
      <header className="dialog-head">
        <Heading id={`${id}-title`}>{title}</Heading>
        <a className="dialog-close" href={closeHref} aria-label={closeLabel} data-close="">
          <Icon name="close" />
        </a>
        {lead !== undefined && <p className="muted">{lead}</p>}
      </header>
      {children}
    </section>
  );
}
