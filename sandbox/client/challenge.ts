import { textsFor } from './texts.ts';

/**
 * Shows the bank's page in a dialog (3-D Secure) until the customer has answered it.
 * @param origin of the stand-in, which serves that page
 */
export function challenge(origin: string, intent: string, locale: string | undefined): Promise<void> {
  const texts = textsFor(locale);
  const address = `${origin}/stand-in/authenticate/${encodeURIComponent(intent)}`;
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-label', texts.challenge);
  Object.assign(dialog.style, {
    width: 'min(30rem, calc(100vw - 2rem))',
    padding: '0',
    border: '1px solid #8886',
    borderRadius: '0.75rem',
    colorScheme: 'light dark',
  });
  const frame = document.createElement('iframe');
  frame.src = address;
  frame.title = texts.challenge;
  Object.assign(frame.style, {
    display: 'block',
    width: '100%',
    height: '15rem',
    border: '0',
    borderRadius: '0.75rem',
    outlineOffset: '-2px',
  });
  const cancel = document.createElement('button');
  cancel.type = 'button';
  cancel.textContent = texts.cancel;
  Object.assign(cancel.style, {
    minHeight: '2.75rem',
    margin: '1rem 1.25rem 1.25rem',
    padding: '0 1.25rem',
    border: '1px solid',
    borderRadius: '0.5rem',
    background: 'none',
    color: 'inherit',
    font: 'inherit',
  });
  dialog.append(frame, cancel);

  return new Promise((resolve) => {
    function close(): void {
      removeEventListener('message', handleMessage);
      dialog.close();
      dialog.remove();
      resolve();
    }
    /** Leaving counts as a failure. */
    function leave(): void {
      const body = new URLSearchParams({ outcome: 'fail' });
      fetch(address, { method: 'POST', mode: 'no-cors', body }).then(close, close);
    }
    function handleMessage({ origin: from, data }: MessageEvent): void {
      if (from === origin && data?.source === 'stripe-stand-in' && data.intent === intent) close();
    }
    addEventListener('message', handleMessage);
    cancel.addEventListener('click', leave);
    dialog.addEventListener('cancel', (event) => {
      event.preventDefault();
      leave();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
