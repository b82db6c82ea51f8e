import { isIP } from 'node:net';
import type { RequestHandler } from 'express';
import type { Guard } from './access.ts';
import { HttpError } from './errors.ts';

/** A client app's own server names in it the address of the visitor for whom it calls. */
export const visitorAddressHeader = 'Foyer-Visitor-Address';

/** From here on the visitor's address is the address of the request: every limit and every mail uses `req.ip`. */
const useVisitorAddress: RequestHandler = (req, _res, next) => {
  const address = req.get(visitorAddressHeader) ?? '';
  if (isIP(address) === 0) {
    const invalidParams = [{ name: `header.${visitorAddressHeader}`, detail: 'is no IP address' }];
    throw new HttpError('validation', { detail: invalidParams[0]?.name, invalidParams });
  }
  Object.defineProperty(req, 'ip', { value: address, configurable: true });
  next();
};

/**
 * Public calls count by address. Behind the server of a client app all its visitors would share one, so a client app with
 * the scope `visitors:act-for` names the visitor's address, which is counted in place of its own; its calls have a limit
 * beside that. Callers without that scope cannot name an address: 401 or 403.
 */
export function actForVisitor(guard: Guard, limit: RequestHandler): RequestHandler[] {
  const named = (handler: RequestHandler): RequestHandler => {
    return (req, res, next) => (req.get(visitorAddressHeader) === undefined ? next() : handler(req, res, next));
  };
  return [guard({ client: 'visitors:act-for' }), limit, useVisitorAddress].map(named);
}
