import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';

/** All routes of the library, under /oauth2; some of its defaults are elsewhere. */
export const routes = {
  authorization: '/oauth2/authorize',
  token: '/oauth2/token',
  userinfo: '/oauth2/userInfo',
  jwks: '/oauth2/jwks',
  revocation: '/oauth2/revoke',
  introspection: '/oauth2/introspect',
  end_session: '/oauth2/logout',
  pushed_authorization_request: '/oauth2/par',
  device_authorization: '/oauth2/device_authorization',
  code_verification: '/oauth2/device',
  registration: '/oauth2/register',
  challenge: '/oauth2/challenge',
  backchannel_authentication: '/oauth2/backchannel',
} as const;

export const discoveryPaths = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'] as const;

/**
 * Adds a middleware of Koa at these routes of the library, and below those that end with a slash. The order counts: each
 * surrounds those that are added later. The library adds `ctx.oidc` when it handles the request.
 */
export function addMiddlewareAt(
  provider: Provider,
  paths: readonly string[],
  middleware: (ctx: KoaContextWithOIDC, next: () => Promise<void>) => unknown,
): void {
  const below = paths.filter((path) => path.endsWith('/'));
  provider.use((ctx, next) =>
    paths.includes(ctx.path) || below.some((path) => ctx.path.startsWith(path))
      ? middleware(ctx as KoaContextWithOIDC, next)
      : next(),
  );
}

/** Handles what Foyer's own middleware throws at these routes: it runs outside of the library's error handler. */
export const addErrorHandlerAt = (
  provider: Provider,
  paths: readonly string[],
  handle: (ctx: KoaContextWithOIDC, error: unknown) => void,
): void => addMiddlewareAt(provider, paths, (ctx, next) => next().catch((error: unknown) => handle(ctx, error)));

/** Express has handled each request before the library gets it. */
export const toExpressRequest = (req: IncomingMessage): Request => req as Request;
export const toExpressResponse = (res: ServerResponse): Response => res as Response;
