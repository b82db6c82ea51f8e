import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC, ResponseType } from 'oidc-provider';
import { HttpError } from '../http/index.ts';
import { getCurrentSession } from '../sessions/index.ts';
import type { AuthorizationRequest } from './authorization-requests.ts';
import type { OidcDeps } from './deps.ts';
import { restartUrl } from './restart-authorization.ts';
import { addMiddlewareAt, routes, toExpressRequest, toExpressResponse } from './routes-table.ts';

const resumePaths = [`${routes.authorization}/`, `${routes.code_verification}/`];

/** The request's id in the address at which the library resumes, or undefined at any other. */
export function requestIdInPath(path: string): string | undefined {
  const resumes = resumePaths.some((route) => path.startsWith(route));
  const [id, ...more] = resumes ? path.split('/').slice(3) : [];
  return id === '' || more.length > 0 ? undefined : id;
}

/**
 * Tests whether the address and response type are still registered for the client app. The library compares only when a
 * request starts, and an address that an operator has removed must not get a later answer. Devices have none.
 */
function isStillRegistered({ client, interaction }: AuthorizationRequest): boolean {
  const { redirect_uri: uri, response_type: type, response_mode: mode } = interaction.params;
  if (typeof uri !== 'string' || typeof type !== 'string') return true;
  const modeStands = typeof mode !== 'string' || client.responseModeAllowed(mode, type as ResponseType, undefined);
  return client.redirectUriAllowed(uri) && client.responseTypeAllowed(type as ResponseType) && modeStands;
}

/**
 * The library resumes with the stored answer for any caller: a sign-in or a consent would pass to another user who has
 * signed in on this browser since. Only the user who gave the answer resumes (`security.md`, rules 1 and 5); before
 * this check, the answer has not changed the provider's session. A signed-out user signs in again for the same request;
 * another user gets an error and can start it again.
 * The library takes the request from its cookie and ignores the address, and sibling subdomains can write that cookie.
 * Both must name the same request, or another one than the checked one would resume. It must also have started in this
 * browser (rule 1), or a device that an attacker has confirmed would be signed in as the user who follows a link.
 */
export function requireAnswerOwner(provider: Provider, deps: OidcDeps): void {
  async function check(id: string, koa: KoaContextWithOIDC): Promise<void> {
    const req = toExpressRequest(koa.req);
    const resumed = koa.cookies.get(provider.cookieName('resume'), { signed: true });
    if (resumed !== undefined && resumed !== id) {
      const redirectTo = await restartUrl(deps, req, { id });
      throw new HttpError('requestExpired', {
        detail: 'cookie and address name different requests',
        redirectTo,
      });
    }
    // Without one the library answers with an error itself.
    if (resumed === undefined) return;
    const found = await deps.requests.find(req, id);
    const interaction = found.state === 'valid' ? found.request.interaction : await provider.Interaction.find(id);
    const answeredBy = interaction?.result?.member;
    const context = getCurrentSession(req)?.userId;
    if (answeredBy === undefined || answeredBy === context) {
      const foreign = found.state === 'other-browser' || (found.state === 'unknown' && interaction !== undefined);
      if (foreign) throw new HttpError('otherBrowser', { detail: 'continued in another browser' });
      if (found.state === 'valid' && !isStillRegistered(found.request))
        throw new HttpError('redirectNotRegistered', { detail: 'registration of the client app has changed' });
      return;
    }
    if (context === undefined && found.state === 'valid') {
      const redirectTo = `/?${new URLSearchParams({ authorization_code: id })}`;
      throw new HttpError('requestExpired', { detail: 'user who answered is signed out', redirectTo });
    }
    await deps.requests.abandon(req, id);
    const href = await restartUrl(deps, req, { id });
    throw new HttpError('requestExpired', {
      detail: 'answered by another user',
      action: href === undefined ? undefined : { href },
    });
  }

  addMiddlewareAt(provider, resumePaths, (ctx, next) => {
    const id = requestIdInPath(ctx.path);
    return id === undefined ? next() : checked(id, ctx, next);
  });

  async function checked(id: string, koa: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
    try {
      await check(id, koa);
    } catch (error) {
      koa.respond = false;
      return deps.fail(toExpressRequest(koa.req), toExpressResponse(koa.res), error);
    }
    await next();
  }
}
