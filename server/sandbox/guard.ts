import { type Gate, HttpError } from '../http/index.ts';

const forwarded = [
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'via',
] as const;
const loopback = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);

/**
 * Outside production Foyer answers this machine alone: whatever a proxy or tunnel hands on comes from elsewhere
 * (`security.md`, rule 16).
 */
export function onlyFromThisMachine(): Gate {
  return (req, _res, next) => {
    const header = forwarded.find((name) => req.headers[name] !== undefined);
    if (header !== undefined)
      throw new HttpError('forbidden', { detail: `not in production, and forwarded: ${header}` });
    if (!loopback.has(req.socket.remoteAddress ?? ''))
      throw new HttpError('forbidden', { detail: 'not in production, and from elsewhere' });
    next();
  };
}
