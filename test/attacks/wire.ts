import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { CookieJar } from 'tough-cookie';
import { isRefusal } from '../support/browser.ts';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  setCookies: string[];
  text: string;
}

export interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** The agent drops idle connections long before the server does, so that no request meets a closing connection. */
const agent = new Agent({ keepAlive: true, maxSockets: 64, timeout: 1_000 });

/** Sends one request exactly as given: unlike fetch, it accepts any Host, path and headers. */
export function send(port: number, path: string, { method = 'GET', headers = {}, body }: Sent = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const without = method === 'GET' ? {} : { 'content-length': '0' };
    const length = body === undefined ? without : { 'content-length': String(Buffer.byteLength(body)) };
    const asked = request(
      // This is for the answer: browsers accept longer addresses than Node does by default.
      { host: '127.0.0.1', port, path, method, agent, maxHeaderSize: 65_536, headers: { ...length, ...headers } },
      (res) => {
        const chunks: Buffer[] = [];
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.on('error', reject);
        res.on('end', () =>
          resolve({
            status: res.statusCode ?? 0,
            headers: res.headers,
            setCookies: res.headers['set-cookie'] ?? [],
            text: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    asked.on('error', reject);
    asked.end(body);
  });
}

/** Sends bytes that no HTTP library would send. @returns everything until the server closed */
export function speak(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    let heard = '';
    socket.setTimeout(5_000, () => socket.destroy(new Error(`no end of the answer: ${heard.slice(0, 200)}`)));
    socket.on('data', (chunk) => {
      heard += chunk.toString();
    });
    socket.on('close', () => resolve(heard));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      // The server may close before it has read everything.
      ['ECONNRESET', 'EPIPE'].includes(error.code ?? '') ? resolve(heard) : reject(error),
    );
    socket.write(bytes);
  });
}

export const portOf = (url: string): number => Number(new URL(url).port);

/** The authentication of a client app's server (RFC 6749, section 2.3.1). */
export const basicOf = ({ id, secret }: { id: string; secret: string | null }): string =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

/** The headers of a client app's server. */
export function callByServer(
  port: number,
  path: string,
  fields: Record<string, string>,
  { host, authorization }: { host: string; authorization: string },
): Promise<Answer> {
  return send(port, path, {
    method: 'POST',
    headers: { host, authorization, accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  });
}

/** A browser whose requests go to `port`, although it sees the site at its own address (a proxy or another process). */
export class Visitor {
  readonly jar: CookieJar;
  readonly #port: number;
  readonly #site: string;
  readonly #headers: Record<string, string>;

  constructor(port: number, site: string, headers: Record<string, string> = {}, jar?: CookieJar) {
    this.#port = port;
    this.#site = site;
    this.#headers = headers;
    // Browsers drop a `__Host-` cookie that breaks its rules.
    this.jar = jar ?? new CookieJar(undefined, { prefixSecurity: 'strict' });
  }

  /** @param path may be an absolute address of the site */
  async send(path: string, sent: Sent = {}): Promise<Answer> {
    const url = new URL(path, this.#site);
    const cookie = await this.jar.getCookieString(url.href);
    const answer = await send(this.#port, `${url.pathname}${url.search}`, {
      ...sent,
      headers: {
        host: new URL(this.#site).host,
        accept: 'text/html',
        ...(cookie !== '' && { cookie }),
        ...this.#headers,
        ...sent.headers,
      },
    });
    for (const line of answer.setCookies) await this.jar.setCookie(line, url.href);
    return answer;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send(path, { headers: { 'sec-fetch-site': 'none', ...headers } });
  }

  /** Follows a refusal to its page, as a browser does. */
  async post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Answer> {
    let answer = await this.submit(path, fields, headers);
    if (!isRefusal(answer.status, answer.setCookies)) return answer;
    const { origin: _origin, 'content-type': _type, 'sec-fetch-site': _site, ...kept } = headers;
    for (let hops = 0; answer.status === 303 && hops < 3; hops += 1) {
      answer = await this.get(answer.headers.location ?? '', { 'sec-fetch-site': 'same-origin', ...kept });
    }
    return answer;
  }

  /** Submits a form and follows nothing. */
  submit(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send(path, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        origin: this.#site,
        'sec-fetch-site': 'same-origin',
        ...headers,
      },
      body: new URLSearchParams(fields).toString(),
    });
  }
}
