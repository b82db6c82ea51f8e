/**
 * Posts the form of /verify-user as JSON and follows the address in the answer; if that fails, the user clicks its
 * button.
 */
const form = document.querySelector<HTMLFormElement>('#verify-user');

async function submitForm(form: HTMLFormElement): Promise<void> {
  const response = await fetch(form.action, {
    method: 'POST',
    credentials: 'same-origin',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify(Object.fromEntries(new FormData(form))),
  });
  const { status, data } = (await response.json()) as { status: number; data: { location: string } };
  if (status !== 200) throw new Error(String(status));
  location.replace(data.location);
}

if (form) {
  submitForm(form).catch(() => {
    form.classList.add('failed');
    const say = (part: string, text = '') => form.querySelector(part)?.replaceChildren(text);
    say('h1', form.dataset.failed);
    say('button', form.dataset.retry);
    form.querySelector('[role=alert]')?.removeAttribute('hidden');
  });
}
