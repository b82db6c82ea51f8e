import { type MouseEvent, useEffect, useRef, useState } from 'react';
import { DialogLinkView, type DialogProps } from '../../views/parts/dialog.tsx';
import type DialogFrame from '../dialog-frame.tsx';
import { type DialogContent, lift } from '../lift.ts';

/** For this long content that was fetched ahead is what the server would answer now. */
const freshMs = 10_000;

interface Opened {
  Frame: typeof DialogFrame;
  content: DialogContent;
}

/** Shows the form of another page in a dialog. It is fetched when the pointer or the focus is on the link. */
export default function Dialog(props: DialogProps) {
  const { href, once } = props;
  const [busy, setBusy] = useState(false);
  const [opened, setOpened] = useState<Opened>();
  const ahead = useRef<{ atMs: number; content: Promise<DialogContent> }>(undefined);
  const findFresh = () => (performance.now() - (ahead.current?.atMs ?? -freshMs) < freshMs ? ahead.current : undefined);
  const look = () => {
    if (once || findFresh()) return;
    const content = lift.load(href, 'ahead');
    content.catch(() => {});
    ahead.current = { atMs: performance.now(), content };
  };
  // The touch that has woken this island.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it belongs to the link, which never changes
  useEffect(look, []);
  const open = (event: MouseEvent<HTMLAnchorElement>) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    const content = findFresh()?.content ?? lift.load(href);
    ahead.current = undefined;
    Promise.all([import('../dialog-frame.tsx'), content])
      .then(
        ([frame, content]) => setOpened({ Frame: frame.default, content }),
        () => location.assign(href),
      )
      .finally(() => setBusy(false));
  };
  return (
    <>
      <DialogLinkView {...props} busy={busy || undefined} onClick={open} onPointerEnter={look} onFocus={look} />
      {opened && <opened.Frame {...props} lift={lift} content={opened.content} onGone={() => setOpened(undefined)} />}
    </>
  );
}
