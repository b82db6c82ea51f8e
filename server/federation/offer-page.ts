import type { RequestHandler } from 'express';
import type { FederationDeps } from './deps.ts';

/** GET /federation/link */
export function showOffer(_deps: FederationDeps): RequestHandler {
  throw new Error('TO BE BUILT');
}

/** POST /federation/link */
export function decideOffer(_deps: FederationDeps): RequestHandler {
  throw new Error('TO BE BUILT');
}
