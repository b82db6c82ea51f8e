import { IncomingMessage } from 'node:http';
import type { Request, RequestHandler } from 'express';
import type Provider from 'oidc-provider';
import { type Client, errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { DirectHandler } from '../http/index.ts';
import { propertyIn, toClientId } from '../shared/index.ts';
import type { ClientSessionStore } from './client-session-store.ts';
import type { GrantStore } from './grant-store.ts';
import { addMiddlewareAt, routes } from './routes-table.ts';

interface ServerLogoutDeps {
  grants: GrantStore;
  clientSessions: ClientSessionStore;
}

export interface ServerLogout {
  /** Answers a logout request that a client app's server sends; those of browsers go on. */
  answer(handOver: DirectHandler): RequestHandler;
  attach(provider: Provider): void;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/**
 * Tests for client authentication. Browsers mark the forms of pages as navigations; a gateway may add an Authorization
 * header to those.
 */
function isOfServer({ headers, body }: Request): boolean {
  if (headers['sec-fetch-mode'] === 'navigate') return false;
  const { client_secret, client_assertion } = Object(body) as Record<string, unknown>;
  return headers.authorization !== undefined || client_secret !== undefined || client_assertion !== undefined;
}

/** A JWT's form, for which the revocation endpoint authenticates the client and then does nothing. */
const noToken = 'e30.e30.e30';

/** The request as one to the revocation endpoint, in whose body the hint cannot end a token. */
function toRevocation(req: Request): IncomingMessage {
  const { id_token_hint: _hint, token: _token, ...fields } = Object(req.body) as Record<string, unknown>;
  const texts = Object.entries(fields).filter((pair): pair is [string, string] => isText(pair[1]));
  const body = String(new URLSearchParams([...texts, ['token', noToken]]));
  const inner = new IncomingMessage(req.socket);
  inner.method = 'POST';
  inner.url = routes.revocation;
  inner.headers = {
    ...req.headers,
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(body.length),
  };
  inner.push(body);
  inner.push(null);
  // Otherwise Node closes the connection after the body.
  inner.complete = true;
  return inner;
}

/**
 * Logout that a server sends: a POST to the end-session endpoint with client authentication and an id token of the
 * session. It ends the grant of this client in that session; the member stays signed in, since no browser takes part
 * (RP-Initiated Logout 1.0 describes only the browser's way). A GET ends nothing, because anyone can make a browser or a
 * mail scanner follow a link.
 */
export function createServerLogout({ grants, clientSessions }: ServerLogoutDeps): ServerLogout {
  const hints = new WeakMap<IncomingMessage, unknown>();

  async function end(provider: Provider, client: Client, hint: unknown): Promise<void> {
    if (!isText(hint)) throw new errors.InvalidRequest('id_token_hint is missing');
    // The library checks hints with it; its types lack the method.
    const validate: (jwt: string, client: Client) => Promise<{ payload: Record<string, unknown> }> = Reflect.get(
      provider.IdToken,
      'validate',
    );
    const { payload } = await validate(hint, client).catch((cause: unknown) => {
      throw new errors.InvalidRequest('id_token_hint is not an id token of this client', undefined, String(cause));
    });
    if (!isText(payload.sid))
      throw new errors.InvalidRequest('id_token_hint has no sid: register a back-channel logout address');
    const clientId = toClientId(client.clientId);
    const session = await clientSessions.findSession(payload.sid, clientId);
    // A session that is over has no grants.
    if (session !== undefined) await grants.endOfSession(clientId, session);
  }

  async function finish(provider: Provider, ctx: KoaContextWithOIDC): Promise<void> {
    const { client } = ctx.oidc;
    // Any other error is of the authentication.
    if (Reflect.get(Object(ctx.body), 'error') !== 'unsupported_token_type' || !client) return;
    try {
      await end(provider, client, hints.get(ctx.req));
      ctx.status = 200;
      ctx.body = '';
    } catch (error) {
      if (!(error instanceof errors.OIDCProviderError)) throw error;
      ctx.status = 400;
      ctx.body = { error: error.error, error_description: error.error_description };
      provider.emit('end_session.error', ctx, error);
    }
  }

  return {
    answer: (handOver) => (req, res, next) => {
      if (!isOfServer(req)) return next();
      const inner = toRevocation(req);
      hints.set(inner, propertyIn(req.body, 'id_token_hint'));
      res.setHeader('Cache-Control', 'no-store');
      handOver(inner, res).catch(next);
    },
    attach(provider) {
      const emitter: NodeJS.EventEmitter = provider;
      // The log names the endpoint that the client app has called.
      emitter.on('revocation.error', (ctx: KoaContextWithOIDC, error: Error) => {
        if (hints.has(ctx.req)) emitter.emit('end_session.error', ctx, error);
      });
      addMiddlewareAt(provider, [routes.revocation], async (ctx, next) => {
        await next();
        if (hints.has(ctx.req)) await finish(provider, ctx);
      });
    },
  };
}
