import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HostCookies } from '../http/index.ts';

/** Browsers in which any user has signed in before. */
export interface ReturningBrowsers {
  is(req: IncomingMessage): boolean;
  /** The random id of this browser; undefined without a valid cookie. */
  find(req: IncomingMessage): string | undefined;
  mark(req: IncomingMessage, res: ServerResponse): void;
}

const cookieName = 'foyer_returning';
const keptMs = 365 * 24 * 60 * 60 * 1000;

/**
 * A signed random id: it names no user and authorizes nothing, and visitors cannot forge it. While visitors' data fill
 * the store, browsers with this cookie can still start requests.
 */
export function returningBrowsers(cookies: HostCookies, secret: Buffer): ReturningBrowsers {
  const key = createSecretKey(secret);
  const sign = (id: string) => createHmac('sha256', key).update(id).digest('base64url');
  const find = (req: IncomingMessage) => {
    const [id = '', signature = ''] = (cookies.read(req, cookieName) ?? '').split('.');
    if (id === '') return undefined;
    const [a, b] = [Buffer.from(sign(id)), Buffer.from(signature)];
    return a.length === b.length && timingSafeEqual(a, b) ? id : undefined;
  };
  const is = (req: IncomingMessage) => find(req) !== undefined;
  return {
    is,
    find,
    mark(req, res) {
      if (is(req)) return;
      const id = randomBytes(9).toString('base64url');
      cookies.set(res, cookieName, { value: `${id}.${sign(id)}`, maxAgeMs: keptMs });
    },
  };
}
