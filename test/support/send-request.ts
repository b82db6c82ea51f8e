import { CookieJar } from 'tough-cookie';
import { createAgent, send } from './http-client.ts';

const redirects = [301, 302, 303, 307, 308];
const mostRedirects = 20;

/**
 * Sends one request by supertest, without cookies of earlier ones. Arguments and result are those of `fetch`: redirects
 * are followed by GET unless `redirect` is `manual`. `signal` has no effect.
 * @throws the errors of Node for connections that fail
 */
export async function sendRequest(input: string | URL, init: RequestInit = {}): Promise<Response> {
  const request = new Request(input, init);
  const body = new Uint8Array(await request.arrayBuffer());
  // As `fetch` sends them.
  const headers = new Headers({ accept: '*/*', 'accept-language': '*', ...Object.fromEntries(request.headers) });
  let url = new URL(request.url);
  const sendTo = (options: Parameters<typeof send>[2]) =>
    send(createAgent(url.origin, new CookieJar()), `${url.pathname}${url.search}`, options);
  let response = await sendTo({ method: request.method, headers, ...(body.length > 0 && { body }) });
  if (init.redirect === 'manual') return response;
  for (let count = 0; redirects.includes(response.status); count += 1) {
    const location = response.headers.get('location');
    if (location === null) return response;
    if (count === mostRedirects) throw new Error(`${request.url} redirects more than ${mostRedirects} times`);
    url = new URL(location, url);
    headers.delete('content-type');
    response = await sendTo({ headers });
  }
  return response;
}
