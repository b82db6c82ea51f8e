import { Agent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** A connection serves one request after the other, as a browser's do. */
const agent = new Agent({ keepAlive: true });

/** Is told of a request and of what came back, before whoever asked is; reads copies. */
export type Listener = (request: Request, answer: Response) => Promise<void>;
const listeners = new Set<Listener>();

/** Statuses that have no body (RFC 9110, 15). */
const bodiless = [204, 205, 304];

export interface Asked {
  method?: string;
  headers: Headers;
  body?: string | Uint8Array<ArrayBuffer>;
  signal?: AbortSignal;
}

/**
 * Asks over HTTP and follows no redirect. It costs half of what `fetch` does, and most of what tests do is to ask.
 * @throws what Node says of connections that fail; nothing of it is tried again
 */
export async function ask(url: URL, { method = 'GET', headers, body, signal }: Asked): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const all = { 'user-agent': 'node', 'sec-fetch-mode': 'cors', ...Object.fromEntries(headers) };
  const asking = request(url, { method, headers: all, agent, ...(signal && { signal }) }, (answer) => {
    const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = answer;
    const received = new Headers();
    for (let index = 0; index < rawHeaders.length; index += 2) {
      received.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '');
    }
    buffer(answer).then((content) => {
      const response = new Response(bodiless.includes(status) ? null : new Uint8Array(content), {
        ...{ status, statusText, headers: received },
      });
      resolve(Object.defineProperty(response, 'url', { value: url.href }));
    }, reject);
  });
  asking.once('error', reject);
  asking.end(body);
  const response = await promise;
  for (const listener of listeners) await listener(new Request(url, { method, headers, body: body ?? null }), response);
  return response;
}

/**
 * Listens to everything that this process asks for, by `ask` and by `fetch`.
 * @returns ends that
 */
export function listenToAnswers(listener: Listener): () => void {
  const original = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const answer = await original(input, init);
    await listener(request, answer);
    return answer;
  };
  listeners.add(listener);
  return () => {
    globalThis.fetch = original;
    listeners.delete(listener);
  };
}

/** How many listen, which should be nobody between two test files. */
export const howManyListen = (): number => listeners.size;
