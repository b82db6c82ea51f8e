import { HttpError } from './errors.ts';
import type { Gate } from './front.ts';

/**
 * The path that a request line names. It may name scheme and host as well (RFC 9112, section 3.2.2), which count for more
 * than the Host header, so they must be ours; undefined when they are not, or when it is no path at all.
 */
function pathOf(target: string, host: string): string | undefined {
  if (target.startsWith('/')) return target;
  const [, named, path = ''] = /^https?:\/\/([^/?]*)(.*)$/is.exec(target) ?? [];
  if (named !== host) return undefined;
  return path.startsWith('/') ? path : `/${path}`;
}

/**
 * Answers only requests for the public host (RFC 9110, section 15.5.20: 421), and settles once for everything behind it
 * under which scheme and host Foyer is reached: PUBLIC_URL says so, not the request. The OpenID library builds its
 * discovery document and resume addresses from the request's host, so a foreign one must never reach it.
 *
 * @param isProxy whether the proxy at this address is believed
 */
export function publicAddress(publicUrl: string, isProxy: (address: string) => boolean): Gate {
  const { host, protocol } = new URL(publicUrl);
  const scheme = protocol.slice(0, -1);
  return (req, _res, next) => {
    const forwarded = req.headers['x-forwarded-host'];
    const asked = (forwarded && isProxy(req.socket.remoteAddress ?? '') && forwarded) || req.headers.host;
    if (asked !== host) throw new HttpError('wrongHost', { detail: `host ${JSON.stringify(asked)}` });
    const path = pathOf(req.url ?? '', host);
    if (path === undefined) throw new HttpError('wrongHost', { detail: 'another host in the request line' });
    if (path !== req.url) {
      req.url = path;
      // Express has kept the line as it was, and the library builds addresses from that.
      if ('originalUrl' in req) req.originalUrl = path;
    }
    req.headers.host = host;
    req.headers['x-forwarded-proto'] = scheme;
    delete req.headers['x-forwarded-host'];
    delete req.headers.forwarded;
    next();
  };
}
