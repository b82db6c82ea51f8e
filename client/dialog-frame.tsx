import { type FormEvent, type MouseEvent, useEffect, useRef, useState } from 'react';
import type { DialogProps } from '../views/parts/dialog.tsx';
import { DialogView } from '../views/parts/dialog-view.tsx';
import type { DialogContent, Lift } from './lift.ts';
import { findStep, sendFromDialog, showPage, wakeIdle } from './send-from-dialog.ts';

/** Shorter waits show nothing. */
const patienceMs = 250;

/** In an open dialog: the first invalid field, the field that the page is for, or the title. */
function findFocus(part: Element): HTMLElement | null {
  const intended = part.querySelector<HTMLElement>('[autofocus]');
  // The browser would focus it when the part is shown.
  intended?.removeAttribute('autofocus');
  const heading = part.querySelector<HTMLElement>('h1, h2');
  if (heading) heading.tabIndex = -1;
  return part.querySelector<HTMLElement>('[aria-invalid=true]:enabled') ?? intended ?? heading;
}

/** Above the form: it was not sent, or the server could not answer it. */
function showProblem(part: Element, text: string | undefined): void {
  const notice = part.querySelector<HTMLElement>('[data-unsent]');
  const words = notice?.querySelector('p');
  if (!notice || !words) return;
  notice.hidden = false;
  words.textContent = text ?? notice.dataset.unsent ?? '';
  notice.scrollIntoView({ block: 'nearest' });
}

/** Marks a form as sent, and its button when it takes a while. @returns what takes the marks away */
function markSent(form: HTMLFormElement, submitter: HTMLElement | null): () => void {
  // The Enter key has activated the hidden button.
  const button = submitter?.ariaHidden ? form.querySelector('.primary') : submitter;
  form.ariaBusy = 'true';
  const timer = setTimeout(() => {
    if (button) button.ariaBusy = 'true';
  }, patienceMs);
  const unmark = () => {
    clearTimeout(timer);
    for (const element of [form, button]) if (element) element.ariaBusy = null;
  };
  // After the browser's Back.
  addEventListener('pageshow', unmark, { once: true });
  return unmark;
}

interface DialogFrameProps extends DialogProps {
  lift: Lift;
  content: DialogContent;
  onGone(): void;
}

/** An open dialog: the form of a page, and what answers it: the same with its errors, or the next step. */
export default function DialogFrame({ lift, content, href, closeLabel, onGone }: DialogFrameProps) {
  const [lifted, setLifted] = useState(content);
  const dialog = useRef<HTMLDialogElement>(null);
  const slot = useRef<HTMLDivElement>(null);
  /** A step was done: the page below no longer shows what is. */
  const isStale = useRef(false);
  useEffect(() => {
    const frame = dialog.current;
    const focused = frame?.open ? findFocus(lifted.part) : null;
    slot.current?.replaceChildren(lifted.part);
    wakeIdle(lifted.part);
    if (frame?.open) focused?.focus();
    else frame?.showModal();
  }, [lifted]);

  const goTo = (address: URL) => {
    if (address.origin !== location.origin || address.pathname !== location.pathname) return location.assign(address);
    isStale.current = false;
    dialog.current?.close();
    showPage(address, href);
  };
  const show = (next: DialogContent) => {
    isStale.current ||= next.isStep;
    if (dialog.current?.open) setLifted(next);
    // It was closed meanwhile.
    else if (next.isStep) showPage(location.href, href);
  };
  const send = async (form: HTMLFormElement, submitter: HTMLElement | null) => {
    const unmark = markSent(form, submitter);
    const answer = await sendFromDialog(lift, form, submitter);
    if (answer.kind === 'content') return show(answer.content);
    if (answer.kind === 'address') {
      const step = dialog.current?.open ? await findStep(lift, answer.address) : undefined;
      return step ? show(step) : goTo(answer.address);
    }
    unmark();
    showProblem(lifted.part, answer.text);
  };

  const onSubmit = (event: FormEvent) => {
    const form = event.target as HTMLFormElement;
    // One that downloads a file or leaves for another site is sent normally.
    if (event.isDefaultPrevented() || 'stays' in form.dataset || 'leaves' in form.dataset) return;
    event.preventDefault();
    if (!form.ariaBusy) send(form, (event.nativeEvent as SubmitEvent).submitter);
  };
  const onClick = (event: MouseEvent) => {
    const control = (event.target as Element).closest<HTMLAnchorElement>('[data-close], [data-step]');
    if (!control || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if ('close' in control.dataset) dialog.current?.close();
    else lift.load(control.href).then(show, () => location.assign(control.href));
  };
  const onClosed = () => {
    onGone();
    if (isStale.current) showPage(location.href, href);
  };
  return (
    <DialogView
      title={lifted.title}
      closeLabel={closeLabel}
      dialog={dialog}
      slot={slot}
      onClick={onClick}
      onSubmit={onSubmit}
      onClosed={onClosed}
    />
  );
}
