/** The part of another page of this site for a dialog. */
export interface DialogContent {
  title: string;
  part: Element;
  /** It is another step than the one before, not the same with its errors. */
  isStep: boolean;
}

/** The server's answer to a form: the next content of the dialog, the next address, or a problem. */
export type Answer =
  | { kind: 'content'; content: DialogContent }
  | { kind: 'address'; address: URL }
  /** Without a text: there was no answer. */
  | { kind: 'problem'; text?: string | undefined };

/** Scripts of the part do not run; forms without an address of their own get the page's. */
async function toAnswer(response: Response): Promise<Answer> {
  const next = response.headers.get('Foyer-Location');
  if (next !== null) return { kind: 'address', address: new URL(next, response.url) };
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const part = page.querySelector('[data-lift]');
  if (!part) return { kind: 'problem', text: page.querySelector('[data-problem]')?.textContent };
  for (const form of part.querySelectorAll('form')) {
    form.setAttribute('action', new URL(form.getAttribute('action') ?? '', response.url).href);
  }
  const title = part.querySelector('h1, h2')?.textContent ?? '';
  return { kind: 'content', content: { title, part: document.adoptNode(part), isStep: response.ok } };
}

/**
 * Asks for the part alone (`server/http/pages.ts`). No redirect is followed: it could lead to a page that acts.
 * @param mode `ahead`: the member has not asked for it yet, so the answer uses nothing up
 */
async function ask(url: URL | string, init: RequestInit = {}, mode: 'dialog' | 'ahead' = 'dialog'): Promise<Answer> {
  const headers = { Accept: 'text/html', 'Foyer-Part': mode };
  return toAnswer(await fetch(url, { ...init, redirect: 'manual', headers }));
}

/**
 * Fetches what a dialog shows.
 * @throws Error if there is no such part, for example because the page leads to a sign-in: navigate there instead
 */
async function load(href: URL | string, mode: 'dialog' | 'ahead' = 'dialog'): Promise<DialogContent> {
  const url = new URL(href, location.href);
  if (url.origin !== location.origin) throw new Error('not of this site');
  const answer = await ask(url, {}, mode);
  if (answer.kind !== 'content' || !answer.content.isStep) throw new Error('nothing to lift');
  return answer.content;
}

/** Fetches the content of dialogs; the frame of a dialog gets it from the link, which has loaded it. */
export const lift = { ask, load };
export type Lift = typeof lift;
