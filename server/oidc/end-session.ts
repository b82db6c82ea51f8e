import type { Request, Response } from 'express';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { renderRedirectPage } from '../http/index.ts';
import { getCurrentSession } from '../sessions/index.ts';
import type { UserId } from '../shared/index.ts';
import type { OauthDeps } from './deps.ts';
import { routes } from './routes-table.ts';
import { readPurpose, sendSignOutPage, signOutLocally } from './sign-out-handlers.ts';
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
export function endLocalSession(provider: Provider, deps: OauthDeps): void {
  provider.use((ctx, next) => (ctx.path === routes.end_session ? endAfter(ctx as KoaContextWithOIDC, next) : next()));

  async function endAfter(koa: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
    await next();
    try {
      await endSession(koa);
    } catch (error) {
      koa.respond = false;
      deps.fail(koa.req as Request, koa.res as Response, error);
    }
  }

  async function endSession(koa: KoaContextWithOIDC): Promise<void> {
    if (koa.status >= 400 || koa.oidc.session?.state === undefined) return;
    const [req, res] = [koa.req as Request, koa.res as Response];
    const { params, client, entities } = koa.oidc;
    const request = signOutRequest({
      client_id: client?.clientId,
      logout_uri: params?.post_logout_redirect_uri,
      state: params?.state,
    });
    const { returnTo } = await verifySignOut(deps, request);
    const session = getCurrentSession(req);
    const hint = entities.IdTokenHint?.payload as IdTokenHint | undefined;
    const ahead = req.method !== 'GET' || readPurpose(req).includes('prefetch');
    if (session && (ahead || !(hint && isHintFor(hint, session)))) {
      // Foyer answers from here on; the library must not write after it.
      koa.respond = false;
      res.statusCode = 200;
      return sendSignOutPage(deps, req, res, request, { client });
    }
    const { address, providerName } = await signOutLocally(deps, req, res, returnTo);
    if (providerName === undefined) {
      koa.status = 303;
      koa.redirect(address);
      return;
    }
    koa.respond = false;
    renderRedirectPage(deps.pages, req, res, address, { providerName });
  }
}
