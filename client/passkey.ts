/** Signs in with a passkey: by the button, and by the browser's autofill in fields with `webauthn`. */
const form = document.querySelector<HTMLFormElement>('[data-passkey]');
const kind = window.PublicKeyCredential;
let asking: AbortController | undefined;

function ask(form: HTMLFormElement, mediation?: 'conditional'): void {
  // One request at a time: a browser refuses a second one.
  asking?.abort();
  const controller = new AbortController();
  asking = controller;
  navigator.credentials
    .get({
      publicKey: kind.parseRequestOptionsFromJSON(JSON.parse(form.dataset.passkey ?? '')),
      signal: controller.signal,
      ...(mediation && { mediation }),
    })
    .then(
      (credential) => {
        const remember = document.querySelector<HTMLInputElement>('.tick[name=remember]');
        form.credential.value = JSON.stringify(credential);
        if (remember?.checked) form.remember.value = '1';
        form.submit();
      },
      () => {
        if (mediation || controller !== asking) return;
        form.querySelector('[role=status] > *')?.removeAttribute('hidden');
        ask(form, 'conditional');
      },
    );
}

if (form && kind && 'parseRequestOptionsFromJSON' in kind) {
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    ask(form);
  });
  ask(form, 'conditional');
}

export {};
