/**
 * Sends a form with `data-in-place` without leaving its page, and replaces its element by that of the answer; other
 * input and the scroll position stay. If that fails the form is sent normally.
 */
addEventListener('submit', (event) => {
  const form = event.target as HTMLFormElement | null;
  if (event.defaultPrevented || !form || !('inPlace' in form.dataset)) return;
  event.preventDefault();
  send(form).catch(() => form.submit());
});

async function send(form: HTMLFormElement): Promise<void> {
  // Only text fields: files could not be sent this way.
  const texts = [...new FormData(form)].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
  const body = new URLSearchParams(texts);
  const answer = await fetch(form.action, { method: 'POST', headers: { Accept: 'text/html' }, body });
  const answered = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('.panel');
  const view = form.closest('.panel');
  const context = new URL(answer.url).pathname === new URL(form.action).pathname;
  if (!answered || !view || !context) throw new Error('another page');
  view.replaceWith(answered);
  const field = answered.querySelector<HTMLElement>('[data-in-place] :is(input:not([type=hidden]), button)');
  // A folded form cannot have the focus.
  (field?.closest('details:not([open])')?.querySelector('summary') ?? field)?.focus();
}

export {};
