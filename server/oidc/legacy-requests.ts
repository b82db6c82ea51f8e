import { randomBytes } from 'node:crypto';
import type Provider from 'oidc-provider';
import type { Client, KoaContextWithOIDC } from 'oidc-provider';
import { appendIdToken, queryIdToken } from './query-response-mode.ts';
import { withoutUnsignedObject } from './request-objects.ts';
import { addMiddlewareAt, routes } from './routes-table.ts';

type Query = KoaContextWithOIDC['query'];

/**
 * Parameters that older client apps omit, added before the library reads the request: a `scope`, the `nonce` of an id
 * token, and `prompt=login` for `forceAuth`. The address for an id token in the query is its final one, which is then
 * compared with the registered ones as usual.
 */
function fillInQuery(query: Query, client: Client): Query {
  const { forceAuth, ...filled } = query;
  if (client.legacy !== true) return query;
  filled.scope ??= 'openid';
  if (filled.response_type === 'id_token') filled.nonce ??= randomBytes(16).toString('base64url');
  if (forceAuth !== undefined) filled.prompt ??= 'login';
  const inQuery = client.legacy_id_token_redirect === true && filled.response_mode === queryIdToken;
  if (inQuery && typeof filled.redirect_uri === 'string' && filled.redirect_uri !== '') {
    filled.redirect_uri = appendIdToken(filled.redirect_uri);
  }
  return filled;
}

const lacks = ({ scope, nonce, response_type: type, response_mode: mode, forceAuth, ...query }: Query) =>
  query.request_uri === undefined &&
  query.request === undefined &&
  (scope === undefined ||
    (nonce === undefined && type === 'id_token') ||
    forceAuth !== undefined ||
    mode === queryIdToken);

/** Adds them only for clients that are registered as `legacy`, also to an unsigned request object. */
export function fillInForLegacy(provider: Provider): void {
  addMiddlewareAt(provider, [routes.authorization], async (ctx, next) => {
    if (ctx.query.request !== undefined) ctx.query = await withoutUnsignedObject(provider, ctx.query);
    const id = lacks(ctx.query) ? ctx.query.client_id : undefined;
    // The library reports faults of the client itself.
    const client = typeof id === 'string' ? await provider.Client.find(id).catch(() => undefined) : undefined;
    if (client) ctx.query = fillInQuery(ctx.query, client);
    await next();
  });
}
