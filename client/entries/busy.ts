// In this file, because one of its own would cost more in headers than it is long.
import '../passkey.ts';

/** A form that is under way says so on its button, and a double press sends it once. */
const patienceMs = 250;
const doublePressMs = 1000;
let sent: EventTarget | undefined;
let sentAtMs = 0;
let busy: HTMLElement | null | undefined;

addEventListener('submit', (event) => {
  const form = event.target as HTMLFormElement;
  // What downloads a file (`data-stays`) leaves its page where it is.
  if (event.defaultPrevented || 'stays' in form.dataset) return;
  if (form === sent && event.timeStamp - sentAtMs < doublePressMs) {
    event.preventDefault();
    return;
  }
  sent = form;
  sentAtMs = event.timeStamp;
  busy = event.submitter;
  // The Enter key has pressed the button that nobody sees.
  if (busy?.ariaHidden) busy = form.querySelector('.primary');
  setTimeout(() => {
    if (busy) busy.ariaBusy = 'true';
  }, patienceMs);
});

// Back from the next page: as it was.
addEventListener('pageshow', () => {
  if (busy) busy.ariaBusy = null;
  busy = null;
});
