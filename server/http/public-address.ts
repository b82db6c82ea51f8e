import type { RequestHandler } from 'express';
import { HttpError } from './errors.ts';

/**
 * Answers only requests for the public host (RFC 9110, section 15.5.20: 421), and settles once for everything behind it
 * under which scheme and host Foyer is reached: PUBLIC_URL says so, not the request. The OpenID library builds its
 * discovery document and resume addresses from the request's host, so a foreign one must never reach it.
 */
export function publicAddress(publicUrl: string): RequestHandler {
  const { host, protocol } = new URL(publicUrl);
  return (req, _res, next) => {
    const trusted: unknown = req.app.get('trust proxy fn')(req.socket.remoteAddress ?? '', 0);
    const asked = (trusted && req.get('x-forwarded-host')) || req.headers.host;
    if (asked !== host) throw new HttpError('wrongHost', { detail: `host ${JSON.stringify(asked)}` });
    req.headers.host = host;
    req.headers['x-forwarded-proto'] = protocol.slice(0, -1);
    delete req.headers['x-forwarded-host'];
    delete req.headers.forwarded;
    next();
  };
}
