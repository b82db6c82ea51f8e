import type { FormEvent, MouseEvent, Ref } from 'react';
import { Icon } from './icon.tsx';

interface DialogViewProps {
  title: string;
  closeLabel: string;
  dialog: Ref<HTMLDialogElement>;
  /** The container of the loaded content. */
  slot: Ref<HTMLDivElement>;
  onClick: (event: MouseEvent) => void;
  onSubmit: (event: FormEvent) => void;
  onClosed: () => void;
}

/**
 * The frame of an open dialog; elements with `data-close` close it. The browser keeps the focus in it, closes it on
 * Escape and restores the focus.
 */
export function DialogView({ title, closeLabel, dialog, slot, onClosed, ...on }: DialogViewProps) {
  return (
    <dialog className="dialog" aria-label={title} ref={dialog} onClose={onClosed} {...on}>
      <div ref={slot} />
      <button type="button" className="dialog-close" aria-label={closeLabel} data-close="">
        <Icon name="close" />
      </button>
    </dialog>
  );
}
