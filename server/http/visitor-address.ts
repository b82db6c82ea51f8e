import { isIP } from 'node:net';
import type { Request, RequestHandler } from 'express';
import { minuteMs } from '../shared/index.ts';
import type { KeyValueStore } from '../store/index.ts';
import { type Guard, principalOf } from './access.ts';
import { HttpError } from './errors.ts';
import { limitRate } from './rate-limit.ts';

/** A client app's own server names in it the address of the visitor for whom it calls. */
export const visitorAddressHeader = 'Foyer-Visitor-Address';

/** Public calls that one client app makes for its visitors, unless its registration has a number of its own. */
const callsPerMinute = 3_000;

const clientOf = (req: Request): string => {
  const principal = principalOf(req);
  return principal.kind === 'client' ? `client:${principal.clientId}` : 'none';
};

const limitOf = (req: Request): number => {
  const principal = principalOf(req);
  return (principal.kind === 'client' ? principal.callsPerMinute : undefined) ?? callsPerMinute;
};

/** From here on the visitor's address is the address of the request: every limit and every mail uses `req.ip`. */
const useVisitorAddress: RequestHandler = (req, _res, next) => {
  const address = req.get(visitorAddressHeader) ?? '';
  if (isIP(address) === 0) {
    const faults = [{ name: `header.${visitorAddressHeader}`, detail: 'is no IP address' }];
    throw new HttpError('validation', { detail: faults[0]?.name, faults });
  }
  Object.defineProperty(req, 'ip', { value: address, configurable: true });
  next();
};

/**
 * Public calls count by address. Behind the server of a client app all its visitors would share one, so a client app with
 * the scope `visitors:act-for` names the visitor's address, which is counted in place of its own; its calls have a limit
 * beside that. Callers without that scope cannot name an address: 401 or 403.
 */
export function actForVisitor(guard: Guard, kv: KeyValueStore): RequestHandler[] {
  const named = (handler: RequestHandler): RequestHandler => {
    return (req, res, next) => (req.get(visitorAddressHeader) === undefined ? next() : handler(req, res, next));
  };
  const limit = limitRate(kv, { name: 'api:for-visitors', limit: limitOf, windowMs: minuteMs }, clientOf);
  return [guard({ client: 'visitors:act-for' }), limit, useVisitorAddress].map(named);
}
