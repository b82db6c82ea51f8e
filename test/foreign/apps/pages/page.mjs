/** What all pages share: their settings, and the texts that the tests read. */
export const { issuer, clientId } = JSON.parse(document.getElementById('settings').textContent);
export const appUrl = location.origin;
export const redirectUri = `${appUrl}/`;
export const scope = 'openid profile email';

/** Shows a value under a name. */
export function show(name, text) {
  const element = document.getElementById(name) ?? document.createElement('p');
  element.id = name;
  element.textContent = text;
  document.body.append(element);
}

/** A button that does something; an error is shown. */
export function addButton(name, act) {
  const button = document.createElement('button');
  button.textContent = name;
  button.addEventListener('click', () => attempt(act));
  document.body.append(button);
}

export async function attempt(act) {
  try {
    await act();
  } catch (error) {
    show('error', `${error}`);
  }
}
