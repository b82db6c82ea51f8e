import type { RequestHandler } from 'express';
import type { FederationDeps } from './deps.ts';

/** POST /federation/<provider>/acs (SAML 2.0 Bindings, section 3.5). */
export function receiveAssertion(_deps: FederationDeps): RequestHandler[] {
  throw new Error('TO BE BUILT');
}

/** GET and POST /federation/<provider>/logout (SAML 2.0 Profiles, section 4.4). */
export function receiveLogout(_deps: FederationDeps): RequestHandler[] {
  throw new Error('TO BE BUILT');
}

/** GET /federation/<provider>/metadata (SAML 2.0 Metadata). */
export function showMetadata(_deps: FederationDeps): RequestHandler {
  throw new Error('TO BE BUILT');
}
