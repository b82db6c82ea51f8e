import type { ReactNode } from 'react';
import { Icon } from './icon.tsx';
import { Notice } from './notice.tsx';

interface DialogCardProps {
  id: string;
  title: string;
  lead?: string;
  /** The page behind the dialog: closing leads there. */
  closeHref: string;
  closeLabel: string;
  /** `h1` if the dialog is a page of its own. */
  level?: 'h1' | 'h2';
  /** In a dialog, for a form that could not be sent. */
  unsent?: string;
  children: ReactNode;
}

/**
 * One action in a box, on a page of its own. A `DialogLink` elsewhere shows this element in a dialog there
 * (`data-lift`).
 */
export function DialogCard({
  id,
  title,
  lead,
  closeHref,
  closeLabel,
  level: Heading = 'h1',
  unsent,
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
      {unsent !== undefined && (
        <div hidden data-unsent={unsent}>
          <Notice kind="error">{unsent}</Notice>
        </div>
      )}
      {children}
    </section>
  );
}
