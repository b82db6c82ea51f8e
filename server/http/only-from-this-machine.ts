import type { NodeMiddleware } from './direct-dispatcher.ts';
import { HttpError } from './errors.ts';

/** Headers of proxies and tunnels, besides `X-Forwarded-…`. */
const forwarded: ReadonlySet<string> = new Set([
  'forwarded',
  'via',
  'x-real-ip',
  'x-client-ip',
  'x-original-host',
  'true-client-ip',
  'cf-connecting-ip',
]);
const loopback = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);

/**
 * Outside production Foyer answers only this machine: a request through a proxy or tunnel comes from elsewhere
 * (`security.md`, rule 16).
 */
export function onlyFromThisMachine(): NodeMiddleware {
  return (req, _res, next) => {
    const header = Object.keys(req.headers).find((name) => name.startsWith('x-forwarded-') || forwarded.has(name));
    if (header !== undefined)
      throw new HttpError('forbidden', { detail: `not in production, and forwarded: ${header}` });
    if (!loopback.has(req.socket.remoteAddress ?? ''))
      throw new HttpError('forbidden', { detail: 'not in production, and from another machine' });
    next();
  };
}
