import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { RequestContext, type RequestServices } from '../http/index.ts';
import { getCurrentSession } from '../sessions/index.ts';
import type { UserId } from '../shared/index.ts';
import type { OidcDeps } from './deps.ts';
import { addMiddlewareAt, routes, toExpressRequest, toExpressResponse } from './routes-table.ts';
import { readPurpose, renderSignOutPage, signOutLocally } from './sign-out-handlers.ts';
import { signOutRequest, verifySignOut } from './sign-out-request.ts';

/** The claims of an id token hint that identify its session. */
interface IdTokenHint {
  sub?: unknown;
  auth_time?: unknown;
}

/**
 * Tests whether a hint, whose signature the library has verified, belongs to this browser's session: the same user and
 * the same time of authentication. For any other hint (an old one, another browser's) a page asks first (`security.md`,
 * rule 12).
 */
function isHintFor(hint: IdTokenHint, session: { userId: UserId; authTimeMs: number }): boolean {
  return hint.sub === session.userId && hint.auth_time === Math.floor(session.authTimeMs / 1000);
}

/**
 * RP-initiated logout (OpenID Connect RP-Initiated Logout 1.0). The library checks client, address and hint. Foyer ends
 * the session, because its own session, the provider's and the grants end together (rule 4). A GET is answered by a
 * redirect, so that no form's policy applies on the way to the client app; the way to an identity provider uses a page.
 */
export function endLocalSession(provider: Provider, deps: OidcDeps): void {
  addMiddlewareAt(provider, [routes.end_session], (ctx, next) => endAfter(ctx, next));

  async function endAfter(koa: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
    await next();
    try {
      await endSession(koa);
    } catch (error) {
      koa.respond = false;
      deps.fail(toExpressRequest(koa.req), toExpressResponse(koa.res), error);
    }
  }

  async function endSession(koa: KoaContextWithOIDC): Promise<void> {
    if (koa.status >= 400 || koa.oidc.session?.state === undefined) return;
    const r = toRequestContext(koa, deps);
    const { params, client, entities } = koa.oidc;
    const request = signOutRequest({
      client_id: client?.clientId,
      logout_uri: params?.post_logout_redirect_uri,
      state: params?.state,
    });
    const verified = await verifySignOut(deps, request);
    const session = getCurrentSession(r.req);
    const hint = entities.IdTokenHint?.payload as IdTokenHint | undefined;
    const ahead = r.req.method !== 'GET' || readPurpose(r.req).includes('prefetch');
    if (session && (ahead || !(hint && isHintFor(hint, session)))) {
      // Foyer answers from here on; the library must not write after it.
      koa.respond = false;
      r.res.statusCode = 200;
      // The library drops the address of a request that names no client app.
      const sent = { ...koa.query, ...koa.oidc.body };
      const fromUnknownApp = client === undefined && sent.post_logout_redirect_uri !== undefined;
      return renderSignOutPage(r, deps, { request, client, fromUnknownApp });
    }
    const { address, providerName } = await signOutLocally(r, deps, verified);
    if (providerName === undefined) {
      koa.status = 303;
      koa.redirect(address);
      return;
    }
    koa.respond = false;
    r.redirectAway(address, { providerName });
  }
}

/** The request of a page that Foyer renders in place of the library. */
export const toRequestContext = (koa: KoaContextWithOIDC, services: RequestServices): RequestContext =>
  new RequestContext(toExpressRequest(koa.req), toExpressResponse(koa.res), services);
