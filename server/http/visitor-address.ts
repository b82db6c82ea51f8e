import { isIP } from 'node:net';
import type { RequestHandler } from 'express';
import type { Guard } from './access.ts';
import { HttpError } from './errors.ts';

/** The header in which the server of a client app sends the address of the visitor for whom it calls. */
export const visitorAddressHeader = 'Foyer-Visitor-Address';

/** From here on `req.ip` is the visitor's address, which every limit and every mail uses. */
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
 * Public calls are counted by address. All visitors behind the server of a client app would share one, so a client app
 * with the scope `visitors:act-for` sends the visitor's address, which is counted instead; its calls have a limit of
 * their own besides. Callers without that scope cannot send an address: 401 or 403.
 */
export function actForVisitor(guard: Guard, limit: RequestHandler): RequestHandler[] {
  const named = (handler: RequestHandler): RequestHandler => {
    return (req, res, next) => (req.get(visitorAddressHeader) === undefined ? next() : handler(req, res, next));
  };
  return [guard({ client: 'visitors:act-for' }), limit, useVisitorAddress].map(named);
}
