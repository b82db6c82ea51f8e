import type Provider from 'oidc-provider';
import { type Client, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { addMiddlewareAt, discoveryPaths } from './routes-table.ts';

/** The response mode of the specification's `{redirect_uri}/?id_token=…`; each client must be registered for it. */
export const queryIdToken = 'query_id_token';
/** Histories and logs keep addresses, so a token in one expires soon. */
export const queryIdTokenSeconds = 5 * 60;

const isRegistered = (client: Client | undefined) => client?.legacy_id_token_redirect === true;

/** The address of an id token for a `redirect_uri`: the same with one slash at its end, which must be registered. */
export const appendIdToken = (redirectUri: string): string =>
  redirectUri.endsWith('/') ? redirectUri : `${redirectUri}/`;

type ModeAllowed = Client['responseModeAllowed'];

/** An id token in the query of the client app's address: only this token, and only for these clients. */
export function allowIdTokenInQuery(provider: Provider): void {
  addMiddlewareAt(provider, discoveryPaths, async (ctx, next) => {
    await next();
    // The library lists only its own modes (RFC 8414, section 2).
    if (ctx.status === 200)
      (ctx.body as { response_modes_supported?: string[] }).response_modes_supported?.push(queryIdToken);
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

/** By now the library has compared `redirectUri` exactly with the registered ones. */
function answer(ctx: KoaContextWithOIDC, redirectUri: string, payload: Record<string, string>): void {
  const isError = payload.error !== undefined;
  if (!isError && !redirectUri.endsWith('/')) throw new errors.InvalidRedirectUri();
  const url = new URL(redirectUri);
  // Errors for other clients use the mode that the library would have chosen.
  const inFragment = !isRegistered(ctx.oidc.client) && String(ctx.oidc.params?.response_type).includes('token');
  if (inFragment) url.hash = new URLSearchParams(payload).toString();
  else for (const [name, value] of Object.entries(payload)) url.searchParams.set(name, value);
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.set('Cache-Control', 'no-store');
  ctx.status = 303;
  ctx.redirect(url.href);
}
