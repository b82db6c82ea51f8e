import { Browser, locationOf } from '../support/browser.ts';

/** The page that an act has led to. */
export interface Arrival {
  status: number;
  /** Its path and query. */
  at: string;
  html: string;
}

export const password = 'correct horse 9';

/** A member at the pages, who signs in again whenever a page asks for it. */
export function createVisitor(url: string, email: string) {
  let browser: Browser | undefined;

  async function signIn(): Promise<Browser> {
    const fresh = new Browser(url);
    const { status } = await fresh.post('/sign-in', { username: email, password });
    if (status !== 303) throw new Error(`${email} could not sign in: ${status}`);
    browser = fresh;
    return fresh;
  }

  /** `/?redirect=`: the session has ended, for example by a request for deletion whose answer was lost. */
  const asksWhoItIs = (response: Response) =>
    response.status === 303 &&
    /^\/(?:(?:sign-in|re-authenticate|login)\b|\?redirect=)/.test(locationOf(response).replace(url, ''));

  /** Sends once, and again after signing in if that was asked for. */
  async function send(work: (browser: Browser) => Promise<Response>): Promise<Response> {
    const response = await work(browser ?? (await signIn()));
    return asksWhoItIs(response) ? work(await signIn()) : response;
  }

  async function arrive(first: Response): Promise<Arrival> {
    let response = first;
    let at = new URL(response.url);
    for (let hops = 0; response.status === 303 && hops < 6; hops += 1) {
      at = new URL(locationOf(response));
      // The end of a purchase may be another site.
      if (at.origin !== new URL(url).origin || at.pathname.startsWith('/signup/completed/')) break;
      const path = at.href;
      response = await send((from) => from.get(path));
    }
    return { status: response.status, at: `${at.pathname}${at.search}`, html: await response.text() };
  }

  return {
    open: async (path: string) => arrive(await send((from) => from.get(path))),
    press: async (path: string, fields: Record<string, string>) =>
      arrive(await send((from) => from.post(path, fields))),
    async callScript(path: string, body: unknown): Promise<unknown> {
      const response = await send((from) => from.postJson(path, body));
      return response.status === 200 ? response.json() : undefined;
    },
    async callApi(path: string, body: unknown): Promise<{ status: number; body: unknown }> {
      const response = await send((from) => from.postJson(path, body));
      return { status: response.status, body: await response.json() };
    },
    /** The member's own data as a file. */
    async download(path: string): Promise<unknown> {
      const response = await send((from) => from.post(path, {}));
      if (response.status !== 200) {
        const to = response.headers.get('location') ?? 'nowhere';
        throw new Error(`${path} answered ${email} with ${response.status} to ${to}`);
      }
      return response.json();
    },
    async call(path: string): Promise<unknown> {
      const response = await send((from) => from.request(path, { headers: { accept: 'application/json' } }));
      return response.status === 200 ? response.json() : undefined;
    },
  };
}

export type Visitor = ReturnType<typeof createVisitor>;

/** What a page gives to one of its scripts. */
export function islandProps(html: string, name: string): Record<string, unknown> | undefined {
  const found = new RegExp(`data-island="${name}"[^>]* data-props="([^"]*)"`).exec(html)?.[1];
  if (found === undefined) return undefined;
  return JSON.parse(found.replaceAll('&quot;', '"').replaceAll('&#x27;', "'").replaceAll('&amp;', '&'));
}
