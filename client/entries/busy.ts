// In this file, because one of its own would cost more in headers than it is long.
import '../passkey.ts';

/** A form that is under way says so on its button, and a double press sends it once. */
const patienceMs = 250;
const doublePressMs = 1000;
const sentAtMs = new WeakMap<EventTarget, number>();
let busy: HTMLElement | null = null;

document.addEventListener('submit', (event) => {
  const form = event.target;
  // What downloads a file leaves its page where it is.
  if (event.defaultPrevented || !(form instanceof Element) || form.hasAttribute('data-stays')) return;
  if (event.timeStamp - (sentAtMs.get(form) ?? Number.NEGATIVE_INFINITY) < doublePressMs) {
    event.preventDefault();
    return;
  }
  sentAtMs.set(form, event.timeStamp);
  busy = event.submitter;
  setTimeout(() => busy?.setAttribute('aria-busy', 'true'), patienceMs);
});

// Back from the next page: as it was.
addEventListener('pageshow', () => {
  busy?.removeAttribute('aria-busy');
  busy = null;
});
