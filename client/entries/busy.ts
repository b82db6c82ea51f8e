// In this file, because a separate request would cost more in headers than the script is long.
import '../passkey.ts';

/** Shows a pending form on its button, and sends it once after a double click. */
const patienceMs = 250;
const doublePressMs = 1000;
let sent: EventTarget | undefined;
let sentAtMs = 0;
let busy: HTMLElement | null | undefined;

addEventListener('submit', (event) => {
  const form = event.target as HTMLFormElement;
  // A form that downloads a file (`data-stays`) does not leave its page.
  if (event.defaultPrevented || 'stays' in form.dataset) return;
  if (form === sent && event.timeStamp - sentAtMs < doublePressMs) {
    event.preventDefault();
    return;
  }
  sent = form;
  sentAtMs = event.timeStamp;
  busy = event.submitter;
  // The Enter key has activated the hidden button.
  if (busy?.ariaHidden) busy = form.querySelector('.primary');
  setTimeout(() => {
    if (busy) busy.ariaBusy = 'true';
  }, patienceMs);
});

// After the browser's Back: restores the button.
addEventListener('pageshow', () => {
  if (busy) busy.ariaBusy = null;
  busy = null;
});
