import type { Request, RequestHandler } from 'express';
import type { NodeMiddleware } from './direct-dispatcher.ts';
import { HttpError } from './errors.ts';

/** Maximum number of characters of a host in the log. */
const maxLogged = 100;

/**
 * The path of a request line. An absolute form names scheme and host (RFC 9112, section 3.2.2), which override the Host
 * header, so they must be Foyer's. Undefined if they are not, or if there is no path.
 */
function requestPath(target: string, host: string): string | undefined {
  if (target.startsWith('/')) return target;
  const [, named, path = ''] = /^https?:\/\/([^/?]*)(.*)$/is.exec(target) ?? [];
  if (named !== host) return undefined;
  return path.startsWith('/') ? path : `/${path}`;
}

/**
 * Rejects a request with more than one Host line (RFC 9112, section 3.2: 400). Node uses the first of them, and a proxy
 * may use the last.
 */
export const oneHost: NodeMiddleware = (req, _res, next) => {
  const names = req.rawHeaders.filter((_, at) => at % 2 === 0);
  if (names.filter((name) => name.toLowerCase() === 'host').length > 1) {
    throw new HttpError('badRequest', { detail: 'more than one Host header' });
  }
  next();
};

/**
 * Answers only requests for the public host (RFC 9110, section 15.5.20: 421), and sets scheme and host for all later
 * handlers from PUBLIC_URL, not from the request. The OpenID library builds its discovery document and resume addresses
 * from the request's host, so a foreign host must never reach it.
 * @param isProxy tests whether the proxy at this address is trusted
 */
export function requirePublicHost(publicUrl: string, isProxy: (address: string) => boolean): NodeMiddleware {
  const { host, protocol } = new URL(publicUrl);
  const scheme = protocol.slice(0, -1);
  return (req, _res, next) => {
    const forwarded = req.headers['x-forwarded-host'];
    const requested = (forwarded && isProxy(req.socket.remoteAddress ?? '') && forwarded) || req.headers.host;
    if (requested !== host)
      throw new HttpError('wrongHost', { detail: `host ${JSON.stringify(requested?.slice(0, maxLogged))}` });
    const path = requestPath(req.url ?? '', host);
    if (path === undefined) throw new HttpError('wrongHost', { detail: 'another host in the request line' });
    if (path !== req.url) {
      req.url = path;
      // Express keeps the original line, and the library builds addresses from it.
      if ('originalUrl' in req) req.originalUrl = path;
    }
    req.headers.host = host;
    req.headers['x-forwarded-proto'] = scheme;
    delete req.headers['x-forwarded-host'];
    delete req.headers.forwarded;
    next();
  };
}

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

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Tests whether a browser sent this unsafe request from a page of this origin. `Sec-Fetch-Site: same-site` is not
 * enough: a sibling subdomain is same-site, and Lax cookies are sent from it (`security.md`, rule 9).
 */
export function isSameOrigin(headers: { site?: string; origin?: string }, origin: string): boolean {
  if (headers.origin !== undefined && headers.origin !== origin) return false;
  if (headers.site !== undefined) return headers.site === 'same-origin';
  return headers.origin === origin;
}

/**
 * Rejects unsafe requests that do not come from a page of this origin, including those with an Authorization header: a
 * gateway may add one to each request, and no page accepts a token. The JSON API precedes this check and has its own.
 */
export function rejectCrossSite(origin: string): RequestHandler {
  return (req, _res, next) => {
    if (safeMethods.has(req.method)) return next();
    const site = req.get('sec-fetch-site');
    const from = req.get('origin');
    if (isSameOrigin({ ...(site !== undefined && { site }), ...(from !== undefined && { origin: from }) }, origin)) {
      return next();
    }
    throw new HttpError('crossSite', {
      detail: `refused: sec-fetch-site ${site ?? 'absent'}, origin ${from ?? 'absent'}`,
    });
  };
}

const marked = new WeakSet<Request>();

/** Tests whether this address answers only JSON: its errors are problem documents, whatever the Accept header says. */
export function isJsonRoute(req: Request): boolean {
  return marked.has(req);
}

/**
 * Marks these addresses, and those below them, as JSON only. A path marks its first segment, but never the root:
 * `/clients` marks `/clients/…`, `/user/info` all of `/user/…`.
 */
export function markJsonRoutes(paths: readonly string[]): RequestHandler {
  const exact = new Set(paths);
  const folders = paths.map((path) => {
    const fixed = path.split('/{', 1)[0] ?? path;
    const parent = fixed.slice(0, fixed.lastIndexOf('/') + 1);
    return parent === '/' ? `${fixed}/` : parent;
  });
  return (req, _res, next) => {
    if (exact.has(req.path) || folders.some((folder) => req.path.startsWith(folder))) marked.add(req);
    next();
  };
}

/** Behind the JSON routes: there is no other one. */
export const refuseOtherJsonRoutes: RequestHandler = (req, _res, next) => {
  if (isJsonRoute(req)) throw new HttpError('notFound');
  next();
};
