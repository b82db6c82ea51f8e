import type { RequestHandler } from 'express';
import type { FederationDeps } from './deps.ts';

/** POST /federation/<provider>: the button of a provider on the sign-in page. */
export function submitBegin(_deps: FederationDeps): RequestHandler {
  throw new Error('TO BE BUILT');
}
