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

type Next = () => Promise<void>;
type Middleware = (ctx: KoaContextWithOIDC, next: Next) => unknown;

interface Added {
  paths: readonly string[];
  middleware: Middleware;
}

const addedTo = new WeakMap<Provider, Added[]>();

const isAt = (path: string, paths: readonly string[]) =>
  paths.some((one) => one === path || (one.endsWith('/') && path.startsWith(one)));

const findStack = (added: readonly Added[], path: string): readonly Middleware[] =>
  added.filter(({ paths }) => isAt(path, paths)).map(({ middleware }) => middleware);

/** Async, so that what a middleware throws at once rejects, as in Koa. */
async function runStack(stack: readonly Middleware[], ctx: KoaContextWithOIDC, next: Next): Promise<void> {
  const [first, ...others] = stack;
  await (first ? first(ctx, () => runStack(others, ctx, next)) : next());
}

/** One layer of Koa for all of them: most routes have few, and Koa would ask each of them at every request. */
function passThroughAdded(provider: Provider, added: readonly Added[]): void {
  const fixed = new Set<string>([...Object.values(routes), ...discoveryPaths]);
  const stacks = new Map<string, readonly Middleware[]>();
  provider.use((ctx, next) => {
    const { path } = ctx;
    const stack = stacks.get(path) ?? findStack(added, path);
    // Not of other paths: visitors can request any.
    if (fixed.has(path)) stacks.set(path, stack);
    return stack.length === 0 ? next() : runStack(stack, ctx as KoaContextWithOIDC, next);
  });
}

/**
 * Adds a middleware of Koa at these routes of the library, and below those that end with a slash. The order counts: each
 * surrounds those that are added later. The library adds `ctx.oidc` when it handles the request.
 */
export function addMiddlewareAt(provider: Provider, paths: readonly string[], middleware: Middleware): void {
  const added = addedTo.get(provider) ?? [];
  if (added.length === 0) passThroughAdded(provider, added);
  addedTo.set(provider, added);
  added.push({ paths, middleware });
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
