import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { keepOpener, traitsOfParameters } from '../http/index.ts';
import { addMiddlewareAt, routes } from './routes-table.ts';

/** Only the library knows the parameters of a pushed or posted request: they are not in the address. */
export function keepOpenerOfPopup({ path, oidc, res }: KoaContextWithOIDC): void {
  const ofRequest = path === routes.authorization || path.startsWith(`${routes.authorization}/`);
  if (ofRequest && traitsOfParameters(oidc?.params ?? {}).popup) keepOpener(res);
}

/**
 * The library's own answers to a request with `display=popup`: the redirect to the sign-in, and the one to the client
 * app.
 */
export function allowPopups(provider: Provider): void {
  addMiddlewareAt(provider, [routes.authorization, `${routes.authorization}/`], async (ctx, next) => {
    await next();
    keepOpenerOfPopup(ctx);
  });
}
