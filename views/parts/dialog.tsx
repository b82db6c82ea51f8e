import type { MouseEvent, Ref } from 'react';
import type { PageContext } from '../page-context.ts';
import { Icon } from './icon.tsx';
import { Island } from './island.tsx';

export interface DialogProps {
  /** The dialog's own page, of this site. The dialog shows the page's element with `data-lift`. */
  href: string;
  label: string;
  /** For screen readers, after the label: "Edit" alone would be ambiguous. */
  context?: string;
  closeLabel: string;
}

interface LinkState {
  busy?: boolean;
  onClick?: (event: MouseEvent<HTMLAnchorElement>) => void;
}

export function DialogLinkView({ href, label, context, busy, onClick }: DialogProps & LinkState) {
  return (
    <a className="button quiet small" href={href} data-hold="" aria-busy={busy} onClick={onClick}>
      {label}
      {context !== undefined && <span className="visually-hidden"> {context}</span>}
    </a>
  );
}

interface DialogViewProps {
  title: string;
  closeLabel: string;
  dialog: Ref<HTMLDialogElement>;
  /** The container of the loaded content. */
  slot: Ref<HTMLDivElement>;
  onClosed: () => void;
}

/**
 * The frame of an open dialog; elements with `data-close` close it. The browser keeps the focus in it, closes it on
 * Escape and restores the focus.
 */
export function DialogView({ title, closeLabel, dialog, slot, onClosed }: DialogViewProps) {
  return (
    <dialog className="dialog" aria-label={title} ref={dialog} onClose={onClosed}>
      <div ref={slot} />
      <button type="button" className="dialog-close" aria-label={closeLabel} data-close="">
        <Icon name="close" />
      </button>
    </dialog>
  );
}

/** A link to a form on a page of its own; with scripts, the same form opens in a dialog. */
export function DialogLink({ ctx, ...props }: { ctx: PageContext } & DialogProps) {
  return <Island ctx={ctx} name="dialog" view={DialogLinkView} props={props} />;
}
