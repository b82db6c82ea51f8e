import { CookieJar } from 'tough-cookie';
import { type Asked, ask } from './http-client.ts';

export interface Asking extends Omit<Asked, 'headers'> {
  headers?: Record<string, string>;
}

/**
 * What a browser does with cookies and request headers, without pages: redirects are not followed, so that a test sees
 * each step. Paths are taken from Foyer's address.
 */
export class Browser {
  readonly jar = new CookieJar();
  readonly #base: string;
  /** Sent with every request. */
  readonly headers: Record<string, string>;

  constructor(base: string, headers: Record<string, string> = {}) {
    this.#base = base;
    this.headers = { accept: 'text/html,application/xhtml+xml', 'accept-language': 'en', ...headers };
  }

  async request(path: string, { headers: own, ...init }: Asking = {}): Promise<Response> {
    const url = new URL(path, this.#base);
    const headers = new Headers({ ...this.headers, ...own });
    const cookie = await this.jar.getCookieString(url.href);
    if (cookie !== '') headers.set('cookie', cookie);
    const response = await ask(url, { ...init, headers });
    for (const line of response.headers.getSetCookie()) await this.jar.setCookie(line, url.href);
    return response;
  }

  /** A navigation; `from` is what Sec-Fetch-Site says of where it comes from. */
  get(
    path: string,
    { from = 'none', headers = {} }: { from?: string; headers?: Record<string, string> } = {},
  ): Promise<Response> {
    return this.request(path, { headers: { 'sec-fetch-site': from, 'sec-fetch-mode': 'navigate', ...headers } });
  }

  /** Submits a form of Foyer's own page, unless the headers say otherwise. */
  post(path: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<Response> {
    return this.request(path, {
      method: 'POST',
      headers: {
        origin: this.#base,
        'sec-fetch-site': 'same-origin',
        'content-type': 'application/x-www-form-urlencoded',
        ...headers,
      },
      body: new URLSearchParams(fields).toString(),
    });
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

  async cookies(): Promise<Record<string, string>> {
    const cookies = await this.jar.getCookies(this.#base);
    return Object.fromEntries(cookies.map(({ key, value }) => [key, value]));
  }
}

/** The address that an answer redirects to, absolute. */
export function locationOf(response: Response): string {
  const location = response.headers.get('location');
  if (location === null) throw new Error(`answered ${response.status} without a Location`);
  return new URL(location, response.url).href;
}
