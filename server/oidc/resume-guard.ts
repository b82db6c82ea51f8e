import type { Request, Response } from 'express';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC, ResponseType } from 'oidc-provider';
import { HttpError } from '../http/index.ts';
import { getCurrentSession } from '../sessions/index.ts';
import type { AuthorizationRequest } from './authorization-requests.ts';
import type { OauthDeps } from './deps.ts';
import { restartUrl } from './restart-authorization.ts';
import { routes } from './routes-table.ts';

/** The request's id in the address at which the library goes on, or undefined at any other. */
export function requestIdInPath(path: string): string | undefined {
  const resumes = [routes.authorization, routes.code_verification].some((route) => path.startsWith(`${route}/`));
  const [id, ...more] = resumes ? path.split('/').slice(3) : [];
  return id === '' || more.length > 0 ? undefined : id;
}

/**
 * Whether the client app may still have its answer where and as it asked for it: the library compares when a request begins,
 * and an address that an operator takes away must not get what a member answers later. Devices have none.
 */
function isStillRegistered({ client, interaction }: AuthorizationRequest): boolean {
  const { redirect_uri: uri, response_type: type, response_mode: mode } = interaction.params;
  if (typeof uri !== 'string' || typeof type !== 'string') return true;
  const modeStands = typeof mode !== 'string' || client.responseModeAllowed(mode, type as ResponseType, undefined);
  return client.redirectUriAllowed(uri) && client.responseTypeAllowed(type as ResponseType) && modeStands;
}

/**
 * The library goes on with whatever answer is stored, for whoever comes: a sign-in or a consent would pass to another
 * member who has signed in on this browser since. Only the member who gave the answer goes on (`security.md`, rules 1
 * and 5); before this, nothing of the answer has touched the provider's session. Who is signed out signs in again for the
 * same request; another member is told, and may begin it anew.
 *
 * The library takes what goes on from its cookie and never looks at the address, and siblings can write that cookie: both must
 * name the same request, or another one than was looked at here would go on; and it must have begun in this browser (rule 1),
 * or a device that an attacker has confirmed would be signed in as whoever follows a link.
 */
export function requireAnswerOwner(provider: Provider, deps: OauthDeps): void {
  async function check(id: string, koa: KoaContextWithOIDC): Promise<void> {
    const req = koa.req as Request;
    const resumed = koa.cookies.get(provider.cookieName('resume'), { signed: true });
    if (resumed !== undefined && resumed !== id) {
      const redirectTo = await restartUrl(deps, req, { id });
      throw new HttpError('requestExpired', {
        detail: 'the cookie names another request than the address',
        redirectTo,
      });
    }
    // Without one the library goes on with nothing, and says so.
    if (resumed === undefined) return;
    const found = await deps.requests.find(req, id);
    const interaction = found.state === 'ours' ? found.request.interaction : await provider.Interaction.find(id);
    const answeredBy = interaction?.result?.member;
    const context = getCurrentSession(req)?.userId;
    if (answeredBy === undefined || answeredBy === context) {
      const foreign = found.state === 'other-browser' || (found.state === 'unknown' && interaction !== undefined);
      if (foreign) throw new HttpError('otherBrowser', { detail: 'goes on in another browser than it began in' });
      if (found.state === 'ours' && !isStillRegistered(found.request))
        throw new HttpError('redirectNotRegistered', { detail: 'the client app is registered otherwise by now' });
      return;
    }
    if (context === undefined && found.state === 'ours') {
      const redirectTo = `/?${new URLSearchParams({ authorization_code: id })}`;
      throw new HttpError('requestExpired', { detail: 'the member who answered is signed out', redirectTo });
    }
    await deps.requests.abandon(req, id);
    const href = await restartUrl(deps, req, { id });
    throw new HttpError('requestExpired', {
      detail: 'answered by another member than the one who goes on',
      action: href === undefined ? undefined : { href },
    });
  }

  provider.use((ctx, next) => {
    const id = requestIdInPath(ctx.path);
    return id === undefined ? next() : checked(id, ctx as KoaContextWithOIDC, next);
  });

  async function checked(id: string, koa: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
    try {
      await check(id, koa);
    } catch (error) {
      koa.respond = false;
      return deps.fail(koa.req as Request, koa.res as Response, error);
    }
    await next();
  }
}
