import { Agent, IncomingMessage, METHODS } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import supertest, { type Test, type Agent as TestAgent } from 'supertest';
import type { CookieJar } from 'tough-cookie';
import type { TestCertificate } from './certificate.ts';

/**
 * A connection serves several requests in sequence, as in browsers; supertest alone opens one per request. An idle one
 * is closed before a server of Node closes it after five seconds: a request on a connection that just closes fails with
 * ECONNRESET.
 */
const reuse = { keepAlive: true, timeout: 3_000 };
const connections = new Agent(reuse);
const tlsConnections = new TlsAgent(reuse);

const trusted = new Set<string>();
let authorities: string[] | undefined;

/** This process trusts the certificate from now on, until the function that it returns is called. */
export function trustCertificate({ cert }: TestCertificate): () => void {
  authorities ??= getCACertificates('default');
  const usual = authorities;
  const apply = () => setDefaultCACertificates([...usual, ...trusted]);
  trusted.add(cert);
  apply();
  return () => {
    trusted.delete(cert);
    apply();
  };
}

/** Gets a request and its response before the caller does; reads copies of them. */
export type Listener = (request: Request, response: Response) => Promise<void>;
const listeners = new Set<Listener>();

/** Statuses that have no body (RFC 9110, 15). */
const bodiless = [204, 205, 304];

export interface RequestOptions {
  method?: string;
  headers: Headers;
  body?: string | Uint8Array<ArrayBuffer>;
}

/**
 * The cookies of an agent in a jar of `tough-cookie`: the jar of superagent supports neither Max-Age nor name prefixes,
 * and takes `/settings-x` for a path below `/settings`.
 */
const agentJar = (jar: CookieJar, origin: string): TestAgent['jar'] => ({
  getCookies: ({ path }) => Object.assign([], { toValueString: () => jar.getCookieStringSync(`${origin}${path}`) }),
  getCookie: () => undefined,
  setCookie: () => false,
  setCookies(lines, _domain, path) {
    // The path of the folder: with a trailing slash it remains the default path of a cookie (RFC 6265, 5.1.4).
    for (const line of [lines].flat()) jar.setCookieSync(line, `${origin}${path}/`);
    return [];
  },
});

type ParsedBody = (error: Error | null, body: unknown) => void;

/** Reads a body as raw bytes, whatever its type: each test decides how to read them. */
function readBytes(response: unknown, done: ParsedBody): void {
  if (!(response instanceof IncomingMessage)) throw new Error('superagent passes another response than Node’s');
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  response.once('end', () => {
    try {
      done(null, Buffer.concat(chunks));
    } catch (error) {
      // Thrown by the jar, for a Set-Cookie that cannot be read.
      done(error instanceof Error ? error : new Error(String(error)), null);
    }
  });
}

/**
 * An agent of supertest that sends requests to one origin, with the cookies of this jar. It follows no redirect,
 * accepts every status and changes neither bodies nor headers.
 */
export function createAgent(origin: string, jar: CookieJar): TestAgent {
  const agent = supertest.agent(origin);
  agent.jar = agentJar(jar, origin);
  return agent
    .redirects(0)
    .ok(() => true)
    .parse(readBytes)
    .serialize((body: unknown) => body)
    .set({ 'user-agent': 'node', 'sec-fetch-mode': 'cors' })
    .use((request: Test) =>
      request.agent(origin.startsWith('https:') ? tlsConnections : connections).unset('Accept-Encoding'),
    );
}

/** The functions of an agent that start a request. */
type Method = {
  [Name in keyof TestAgent]: TestAgent[Name] extends (url: string) => Test ? Name : never;
}[keyof TestAgent];

/** The agent’s `query` is not a request with the method QUERY: it sets parameters. */
const isMethod = (name: string): name is Method => name !== 'query' && METHODS.includes(name.toUpperCase());

/** Converts a response of Node to one of `fetch`, with every header line unchanged. */
function toResponse({ res, url }: Test, body: unknown): Response {
  if (!(res instanceof IncomingMessage)) throw new Error(`no HTTP/1.1 response from ${url}`);
  const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = res;
  const headers = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '');
  }
  // A response to HEAD does not go through `readBytes`.
  const bytes = Buffer.isBuffer(body) ? new Uint8Array(body) : new Uint8Array();
  const response = new Response(bodiless.includes(status) ? null : bytes, { status, statusText, headers });
  return Object.defineProperty(response, 'url', { value: url });
}

/**
 * Sends a request with an agent of `createAgent`.
 * @param path with its query
 * @throws the errors of Node for connections that fail; nothing is sent again
 */
export async function send(agent: TestAgent, path: string, options: RequestOptions): Promise<Response> {
  const { method = 'GET', headers, body } = options;
  const name = method.toLowerCase();
  if (!isMethod(name)) throw new Error(`supertest has no method ${method}`);
  const test = agent[name](path).set(Object.fromEntries(headers));
  if (body !== undefined) test.send(typeof body === 'string' ? body : Buffer.from(body));
  // Superagent labels a string without a type as a form.
  if (!headers.has('content-type')) test.unset('Content-Type');
  const { body: received }: { body: unknown } = await test;
  const response = toResponse(test, received);
  if (listeners.size > 0) {
    const sent = new Headers(headers);
    if (test.cookies !== '') sent.set('cookie', test.cookies);
    const request = new Request(test.url, { method, headers: sent, body: body ?? null });
    for (const listener of listeners) await listener(request, response);
  }
  return response;
}

/**
 * Listens to every response that this process gets, by `send` and by `fetch`.
 * @returns a function that ends it
 */
export function listenToAnswers(listener: Listener): () => void {
  const original = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const response = await original(input, init);
    await listener(request, response);
    return response;
  };
  listeners.add(listener);
  return () => {
    globalThis.fetch = original;
    listeners.delete(listener);
  };
}

/** The number of listeners, which is zero between two test files. */
export const howManyListen = (): number => listeners.size;
