import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorRequestHandler } from 'express';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { type Logger, requestReference, toRetrySeconds, unavailableRetrySeconds } from '../http/index.ts';
import { StoreUnavailable } from '../store/index.ts';
import { addErrorHandlerAt, routes } from './routes-table.ts';

/** Endpoints for client apps: their standards demand JSON errors, also if a browser requests them. */
const clientCalls: readonly string[] = [
  routes.token,
  routes.userinfo,
  routes.revocation,
  routes.introspection,
  routes.jwks,
  routes.pushed_authorization_request,
  routes.device_authorization,
];

export const isClientCall = (path: string): boolean => clientCalls.includes(path);

/** The answer to a client app while a store is away: it tries again with what it has (RFC 6749, section 4.1.2.1). */
const storeAway = { error: 'temporarily_unavailable', error_description: 'A store does not answer; try again.' };

const serverError = (req: IncomingMessage) => ({
  error: 'server_error',
  error_description: `Foyer failed; the log has the reason under ${requestReference(req)}.`,
});

/** A fault of Foyer at an endpoint for client apps, in place of the library's text. */
function answerServerError(ctx: KoaContextWithOIDC, error: unknown): void {
  if (error instanceof StoreUnavailable) {
    ctx.status = 503;
    ctx.set('Retry-After', String(toRetrySeconds(unavailableRetrySeconds * 1_000)));
    ctx.body = storeAway;
    return;
  }
  ctx.status = 500;
  ctx.body = serverError(ctx.req);
}

/** Surrounds all handlers of the provider: those of Foyer run outside of the library's own error handler. */
export function answerServerErrors(provider: Provider, log: Pick<Logger, 'error'>): void {
  const fail = (ctx: KoaContextWithOIDC, error: unknown) => {
    log.error({ err: error }, 'OpenID Provider failed');
    if (isClientCall(ctx.path)) answerServerError(ctx, error);
  };
  provider.on('server_error', fail);
  addErrorHandlerAt(provider, clientCalls, fail);
}

function sendError(res: ServerResponse, status: number, body: object): void {
  res.statusCode = status;
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.end(JSON.stringify(body));
}

/** The same for a request that the library does not have. */
export function sendStoreAway(res: ServerResponse): void {
  res.setHeader('Retry-After', toRetrySeconds(unavailableRetrySeconds * 1_000));
  sendError(res, 503, storeAway);
}

export const sendServerError = (req: IncomingMessage, res: ServerResponse): void =>
  sendError(res, 500, serverError(req));

/** Before the library has the request: a limit of requests needs the key-value store. */
export const answerStoreAway =
  (log: Pick<Logger, 'error'>): ErrorRequestHandler =>
  (error, req, res, next) => {
    if (!(error instanceof StoreUnavailable) || !isClientCall(req.path) || res.headersSent) return next(error);
    log.error({ err: error }, 'OpenID Provider failed');
    sendStoreAway(res);
  };
