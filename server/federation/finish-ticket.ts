import type { RequestHandler } from 'express';
import type { FederationDeps } from './deps.ts';

/** GET /federation/<provider>/finish?ticket=: the browser is back from SAML's post, with its cookies. */
export function showTicket(_deps: FederationDeps): RequestHandler {
  throw new Error('TO BE BUILT');
}

/** POST: the visitor wants to be signed in by an answer for which nobody asked (IdP-initiated). */
export function finishTicket(_deps: FederationDeps): RequestHandler {
  throw new Error('TO BE BUILT');
}
