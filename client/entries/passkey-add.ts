/** Lets the browser create a passkey, and posts it with the form; shows the reason if that fails. */
const form = document.querySelector<HTMLFormElement>('[data-new-passkey]');
const kind = window.PublicKeyCredential;
const isKnown = kind !== undefined && 'parseCreationOptionsFromJSON' in kind;
const reasons = ['unsupported', 'none', 'known'] as const;

function say(why?: (typeof reasons)[number]): void {
  for (const reason of reasons) document.getElementById(`passkey-${reason}`)?.toggleAttribute('hidden', reason !== why);
}

async function make(form: HTMLFormElement): Promise<void> {
  const publicKey = kind.parseCreationOptionsFromJSON(JSON.parse(form.dataset.newPasskey ?? ''));
  form.credential.value = JSON.stringify(await navigator.credentials.create({ publicKey }));
  form.submit();
}

form?.addEventListener('submit', (event) => {
  const name = form.querySelector<HTMLInputElement>('[name=name]');
  // Another language: the server takes the input, not the passkey.
  if (event.submitter?.hasAttribute('formnovalidate')) return;
  // Checks the name before the passkey is created, because the server would refuse it.
  if (!name?.value.trim()) return;
  event.preventDefault();
  if (!isKnown) return say('unsupported');
  say();
  make(form).catch((error: Error) => say(error.name === 'InvalidStateError' ? 'known' : 'none'));
});
if (!isKnown) say('unsupported');

export {};
