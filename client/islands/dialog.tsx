import { type MouseEvent, useEffect, useRef, useState } from 'react';
import { DialogLinkView, type DialogProps, DialogView } from '../../views/parts/dialog.tsx';
import { type DialogContent, loadIntoDialog } from '../lift.ts';

/** Shows the form of another page in a dialog. Its forms are sent normally: the answer is a page. */
export default function Dialog(props: DialogProps) {
  const [busy, setBusy] = useState(false);
  const [lifted, setLifted] = useState<DialogContent>();
  const dialog = useRef<HTMLDialogElement>(null);
  const slot = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const frame = dialog.current;
    if (!lifted || !frame) return;
    slot.current?.replaceChildren(lifted.part);
    frame.addEventListener('click', (event) => {
      if (!(event.target as Element).closest('[data-close]')) return;
      event.preventDefault();
      frame.close();
    });
    frame.showModal();
  }, [lifted]);
  const open = (event: MouseEvent<HTMLAnchorElement>) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    loadIntoDialog(props.href)
      .then(setLifted, () => location.assign(props.href))
      .finally(() => setBusy(false));
  };
  return (
    <>
      <DialogLinkView {...props} busy={busy || undefined} onClick={open} />
      {lifted && (
        <DialogView
          title={lifted.title}
          closeLabel={props.closeLabel}
          dialog={dialog}
          slot={slot}
          onClosed={() => setLifted(undefined)}
        />
      )}
    </>
  );
}
