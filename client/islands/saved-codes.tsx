import { useEffect, useRef } from 'react';
import { type SavedCodesProps, SavedCodesView } from '../../views/parts/saved-codes.tsx';

/** Asks before the page, or the dialog that shows it, is left while the box is not ticked. */
export default function SavedCodes(props: SavedCodesProps) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const input = box.current;
    const dialog = input?.closest('dialog');
    // Another step of the dialog, or another page below it, has replaced the box.
    const isOpen = () => input?.isConnected === true && !input.checked;
    const beforeLeaving = (event: Event) => {
      if (isOpen()) event.preventDefault();
    };
    const beforeClosing = (event: Event) => {
      const closes = event.type === 'cancel' || (event.target as Element).closest('[data-close]');
      if (!closes || !isOpen() || confirm(props.question)) return;
      event.preventDefault();
      event.stopPropagation();
    };
    addEventListener('beforeunload', beforeLeaving);
    for (const type of ['cancel', 'click']) dialog?.addEventListener(type, beforeClosing, true);
    return () => {
      removeEventListener('beforeunload', beforeLeaving);
      for (const type of ['cancel', 'click']) dialog?.removeEventListener(type, beforeClosing, true);
    };
  }, [props.question]);
  return <SavedCodesView {...props} box={box} />;
}
