import type { Answer, DialogContent, Lift } from './lift.ts';

/** Sends the form of a dialog, once. */
export async function sendFromDialog(
  { ask }: Lift,
  form: HTMLFormElement,
  submitter: HTMLElement | null,
): Promise<Answer> {
  const fields = [...new FormData(form, submitter)];
  const body = new URLSearchParams(
    fields.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
  try {
    return await ask(form.getAttribute('action') ?? '', { method: 'POST', body });
  } catch {
    return { kind: 'problem' };
  }
}

const toSection = ({ origin, pathname }: URL | Location) => `${origin}/${pathname.split('/')[1]}`;

/**
 * The next step of a dialog. Only pages of the same section are asked for: others, such as the sign-in, are pages of
 * their own.
 * @returns undefined if there is none: navigate there instead
 */
export const findStep = async ({ load }: Lift, address: URL): Promise<DialogContent | undefined> =>
  address.pathname !== location.pathname && toSection(address) === toSection(location)
    ? load(address).catch(() => undefined)
    : undefined;

/** Scripts that listen to the window, whatever it shows. */
const stays = /\/(?:hydrate|busy)-/;

/**
 * Shows the same page again as it is now, with its notice, without losing the place. If it has become another page, or
 * needs scripts that have run already, the browser goes there.
 * @param focused the address of the link that had opened the dialog
 */
export async function showPage(address: URL | string, focused: string): Promise<void> {
  try {
    const response = await fetch(address, { headers: { Accept: 'text/html' } });
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const scripts = [...page.querySelectorAll<HTMLScriptElement>('script[src]')];
    const isSame = response.ok && new URL(response.url).pathname === location.pathname;
    if (!isSame || !scripts.every(({ src }) => stays.test(src))) throw new Error('another page');
    history.replaceState(null, '', response.url);
    document.title = page.title;
    document.documentElement.lang = page.documentElement.lang;
    document.body.replaceWith(document.adoptNode(page.body));
    wakeIdle(document);
    const link = [...document.links].find((one) => one.getAttribute('href') === focused);
    (link ?? document.getElementById('content'))?.focus({ preventScroll: true });
  } catch {
    location.assign(address);
  }
}

/** Wakes the islands of new content that do not wait for a touch (client/hydrate.ts). */
export function wakeIdle(within: ParentNode): void {
  for (const island of within.querySelectorAll('[data-load=idle]')) island.dispatchEvent(new Event('pointerover'));
}
