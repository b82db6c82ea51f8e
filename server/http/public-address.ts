import { HttpError } from './errors.ts';
import type { Gate } from './front.ts';

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
    req.headers.host = host;
    req.headers['x-forwarded-proto'] = scheme;
    delete req.headers['x-forwarded-host'];
    delete req.headers.forwarded;
    next();
  };
}
