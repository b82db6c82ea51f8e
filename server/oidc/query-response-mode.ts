import type Provider from 'oidc-provider';
import { type Client, errors, type KoaContextWithOIDC } from 'oidc-provider';

import { discoveryPaths } from './routes-table.ts';

/** The response mode of the specification's `{redirect_uri}/?id_token=…`; clients are registered for it one by one. */
export const queryIdToken = 'query_id_token';
/** An address is kept in histories and logs, so what stands in it is soon worth nothing. */
export const queryIdTokenSeconds = 5 * 60;

const isRegistered = (client: Client | undefined) => client?.legacy_id_token_redirect === true;

/** Where the id token goes for a `redirect_uri`: the same with one slash at its end. That one must be registered. */
export const appendIdToken = (redirectUri: string): string =>
  redirectUri.endsWith('/') ? redirectUri : `${redirectUri}/`;

type ModeAllowed = Client['responseModeAllowed'];

/** An id token in the query of the client app's address: nothing else goes that way, and no other client's. */
export function allowIdTokenInQuery(provider: Provider): void {
  provider.use(async (ctx, next) => {
    await next();
    // The library says its own modes alone (RFC 8414, section 2).
    const isMetadata = ctx.status === 200 && discoveryPaths.some((path) => path === ctx.path);
    if (isMetadata) (ctx.body as { response_modes_supported?: string[] }).response_modes_supported?.push(queryIdToken);
  });

  const prototype = provider.Client.prototype;
  const known = prototype.responseModeAllowed;
  const allowed: ModeAllowed = function (this: Client, mode, type, ...more) {
    if (mode === queryIdToken) return isRegistered(this) && type === 'id_token';
    return known.call(this, mode, type, ...more);
  };
  Object.defineProperty(prototype, 'responseModeAllowed', { value: allowed });

  provider.registerResponseMode(queryIdToken, (ctx, redirectUri, payload) => {
    answer(ctx as KoaContextWithOIDC, redirectUri, payload as Record<string, string>);
  });
}

/** By now the library has compared `redirectUri` with the registered ones, letter by letter. */
function answer(ctx: KoaContextWithOIDC, redirectUri: string, payload: Record<string, string>): void {
  const isError = payload.error !== undefined;
  if (!isError && !redirectUri.endsWith('/')) throw new errors.InvalidRedirectUri();
  const url = new URL(redirectUri);
  // Whoever may not have it is told so as by the mode that the library would have chosen.
  const inFragment = !isRegistered(ctx.oidc.client) && String(ctx.oidc.params?.response_type).includes('token');
  if (inFragment) url.hash = new URLSearchParams(payload).toString();
  else for (const [name, value] of Object.entries(payload)) url.searchParams.set(name, value);
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.set('Cache-Control', 'no-store');
  ctx.status = 303;
  ctx.redirect(url.href);
}
