import type { Agent } from 'supertest';
import { CookieJar } from 'tough-cookie';
import { createAgent, type RequestOptions, send } from './http-client.ts';

export interface Asking extends Omit<RequestOptions, 'headers'> {
  headers?: Record<string, string>;
}

/** Tests whether a form was refused: the redirect's page shows the reason (server/http/post-redirect-get.ts). */
export const isRefusal = (status: number, setCookies: readonly string[]): boolean =>
  status === 303 && setCookies.some((line) => /^(?:__Host-)?foyer_form_[\w-]{12}=[^;]/.test(line));

/** The sealed cookie of a notice. */
export interface NoticeBox {
  open(value: string): string;
  seal(notice: string): string;
}

/** Tests find these on the page. */
const beforeAnyPage = new Set(['terms:accepted', 'account:linked', 'email-confirmed', 'no-deal', 'promo-applied']);

/** For each Foyer of this process, by its origin. */
export const noticeBoxes = new Map<string, NoticeBox>();

/**
 * A browser without pages: cookies and request headers as browsers send them, over agents of supertest. Redirects are
 * not followed, so that a test sees each step. The exception is the redirect of a refused form: its page is the answer.
 * Paths are relative to the address of Foyer.
 */
export class Browser {
  readonly jar = new CookieJar();
  readonly #base: string;
  /** One for each origin, since an agent of supertest has one; all share the jar. */
  readonly #agents = new Map<string, Agent>();
  /** Sent with every request. */
  readonly headers: Record<string, string>;

  constructor(base: string, headers: Record<string, string> = {}) {
    this.#base = base;
    this.headers = { accept: 'text/html,application/xhtml+xml', 'accept-language': 'en', ...headers };
  }

  async request(path: string, { headers: own, ...init }: Asking = {}): Promise<Response> {
    const url = new URL(path, this.#base);
    const headers = new Headers({ ...this.headers, ...own });
    // The cookies of the jar replace a Cookie header of the test; superagent would merge the two.
    if (this.jar.getCookieStringSync(url.href) !== '') headers.delete('cookie');
    const response = await send(this.#agent(url.origin), `${url.pathname}${url.search}`, { ...init, headers });
    return this.#withNotice(response);
  }

  /**
   * The name of the notice that comes with a redirect, except those that can precede any page, as the fragment of its address: tests compare both at once. Of a
   * Foyer of another process no name can be read.
   */
  #withNotice(response: Response): Response {
    const address = response.headers.get('location') ?? response.headers.get('foyer-location');
    const cookies = response.headers.getSetCookie().map((line) => /^(?:__Host-)?foyer_notice=([^;]+)/.exec(line)?.[1]);
    const notice = cookies.findLast((value) => value !== undefined);
    const box = noticeBoxes.get(new URL(response.url).origin);
    if (address === null || notice === undefined) return response;
    const title = box?.open(decodeURIComponent(notice)) ?? 'notice';
    if (beforeAnyPage.has(title)) return response;
    const name = response.headers.has('location') ? 'location' : 'foyer-location';
    response.headers.set('sent-location', address);
    response.headers.set(name, `${address.replace(/#$/, '')}#${title}`);
    return response;
  }

  #agent(origin: string): Agent {
    const agent = this.#agents.get(origin) ?? createAgent(origin, this.jar);
    this.#agents.set(origin, agent);
    return agent;
  }

  /** A navigation; `from` is its Sec-Fetch-Site. */
  get(
    path: string,
    { from = 'none', headers = {} }: { from?: string; headers?: Record<string, string> } = {},
  ): Promise<Response> {
    return this.request(path, { headers: { 'sec-fetch-site': from, 'sec-fetch-mode': 'navigate', ...headers } });
  }

  /**
   * Submits a form of Foyer's own page, unless the headers say otherwise. A refused form answers with the page that the
   * redirect leads to: its status and its texts are those of the refusal.
   */
  async post(
    path: string,
    fields: Record<string, string> = {},
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return this.submitText(path, new URLSearchParams(fields).toString(), headers);
  }

  /** The same with the text of the form's body, in which a field can be repeated. */
  async submitText(path: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
    const response = await this.#submit(path, body, headers);
    return isRefusal(response.status, response.headers.getSetCookie()) ? this.#shown(response, headers) : response;
  }

  /** Submits a form without following redirects. */
  submit(path: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<Response> {
    return this.#submit(path, new URLSearchParams(fields).toString(), headers);
  }

  #submit(path: string, fields: string, headers: Record<string, string>): Promise<Response> {
    // The form has this field for browsers without scripts, as this one.
    const body = path.startsWith('/forgot-password') ? `noscript=1&${fields}` : fields;
    return this.request(path, {
      method: 'POST',
      headers: {
        origin: this.#base,
        'sec-fetch-site': 'same-origin',
        'content-type': 'application/x-www-form-urlencoded',
        ...headers,
      },
      body,
    });
  }

  /** The page of a refused form; its address may redirect first. */
  async #shown(refused: Response, headers: Record<string, string>): Promise<Response> {
    const { origin: _origin, 'content-type': _type, ...kept } = headers;
    let shown = refused;
    for (let hops = 0; shown.status === 303 && hops < 3; hops += 1) {
      const address = new URL(locationOf(shown));
      if (address.origin !== new URL(this.#base).origin) throw new Error(`a refused form leads to ${address.origin}`);
      shown = await this.get(address.href, { from: 'same-origin', headers: kept });
    }
    return shown;
  }

  /** Calls as a script of Foyer's own page does. */
  postJson(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return this.request(path, {
      method: 'POST',
      headers: {
        accept: 'application/json',
        origin: this.#base,
        'sec-fetch-site': 'same-origin',
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify(body),
    });
  }

  /** As if an action of this browser had led to the next page. */
  async announce(notice: string): Promise<void> {
    const seal = noticeBoxes.get(this.#base)?.seal;
    if (seal === undefined) throw new Error(`no Foyer of this process at ${this.#base}`);
    await this.jar.setCookie(`foyer_notice=${encodeURIComponent(seal(notice))}; Path=/`, this.#base);
  }

  async cookies(): Promise<Record<string, string>> {
    const cookies = await this.jar.getCookies(this.#base);
    return Object.fromEntries(cookies.map(({ key, value }) => [key, value]));
  }
}

/** The absolute target of a redirect. */
export function locationOf(response: Response): string {
  const location = response.headers.get('location');
  if (location === null) throw new Error(`answered ${response.status} without a Location`);
  return new URL(location, response.url).href;
}

/** The notice that comes with a redirect (see {@link Browser}), without its provider; null: there is none. */
export const noticeOf = (address: string): string | null =>
  /#([^/]+)/.exec(address.replace(/^https?:\/\/[^/]*/, ''))?.[1] ?? null;
