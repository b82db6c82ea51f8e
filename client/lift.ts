/** The part of another page of this site for a dialog. */
export interface DialogContent {
  title: string;
  part: Element;
}

/**
 * Fetches a page and extracts its element with `data-lift`. Its scripts do not run; forms without an address of their
 * own get the page's.
 * @throws Error if the page cannot be loaded, has redirected (for example to a sign-in) or has no such element:
 * navigate there instead
 */
export async function loadIntoDialog(href: string): Promise<DialogContent> {
  const url = new URL(href, location.href);
  if (url.origin !== location.origin) throw new Error('not of this site');
  const response = await fetch(url, { headers: { Accept: 'text/html' } });
  if (!response.ok || response.redirected) throw new Error(String(response.status));
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const part = page.querySelector('[data-lift]');
  if (!part) throw new Error('nothing to lift');
  for (const form of part.querySelectorAll('form')) {
    form.setAttribute('action', new URL(form.getAttribute('action') ?? '', url).href);
  }
  return { title: part.querySelector('h1, h2')?.textContent ?? page.title, part: document.adoptNode(part) };
}
