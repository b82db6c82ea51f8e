import type { KoaContextWithOIDC } from 'oidc-provider';
import { type ErrorKind, HttpError } from '../http/index.ts';
import { toClientId } from '../shared/index.ts';
import { StoreUnavailable } from '../store/index.ts';
import type { OidcDeps } from './deps.ts';
import { keepOpenerOfPopup } from './popup.ts';
import { clientInitiateLoginUrl, restartUrl } from './restart-authorization.ts';
import { requestIdInPath } from './resume-guard.ts';
import { routes, toExpressRequest, toExpressResponse } from './routes-table.ts';
import { isClientCall } from './server-errors.ts';

/** The page for an error of the library. "Must not redirect" applies to each: the visitor sees only the page. */
function toErrorKind(error: Error, path: string): ErrorKind {
  // For every fault: the user is still signed in and can still sign out.
  if (path === routes.end_session && isRefusal(error)) return 'signOutFailed';
  switch (error.name) {
    case 'InvalidClient':
      return 'unregisteredClient';
    case 'InvalidRedirectUri':
      return 'redirectNotRegistered';
    case 'SessionNotFound':
      return 'requestExpired';
    default:
      return isRefusal(error) ? 'authorizationFailed' : 'internal';
  }
}

function isRefusal(error: Error): boolean {
  return 'status' in error && typeof error.status === 'number' && error.status < 500;
}

/**
 * The library's errors as Foyer pages: with a link to the client app if it is known, and for an expired request with
 * the address of a new start.
 */
export function createRenderError(deps: OidcDeps) {
  async function errorActions({ oidc, path, req }: KoaContextWithOIDC, kind: ErrorKind) {
    if (kind === 'signOutFailed') return { action: { href: '/logout', signsOut: true as const } };
    const id = requestIdInPath(path);
    const instead = kind === 'requestExpired' && id ? await restartUrl(deps, toExpressRequest(req), { id }) : undefined;
    return {
      redirectTo: instead,
      action: await clientInitiateLoginUrl(deps, oidc.client && toClientId(oidc.client.clientId)),
    };
  }

  return async (
    ctx: KoaContextWithOIDC,
    out: { error: string; error_description?: string },
    error: Error,
  ): Promise<void> => {
    // The library has set status and headers; only the Accept header selected the HTML page.
    if (isClientCall(ctx.path)) {
      ctx.body = out;
      return;
    }
    ctx.respond = false;
    keepOpenerOfPopup(ctx);
    const detail = [out.error, out.error_description, Reflect.get(error, 'error_detail')].filter(Boolean).join(': ');
    const kind = toErrorKind(error, ctx.path);
    // An unavailable store has its own answer with Retry-After.
    const view =
      error instanceof StoreUnavailable
        ? error
        : await errorActions(ctx, kind).then(
            (ways) => new HttpError(kind, { detail, cause: error, ...ways }),
            (unavailable: unknown) => unavailable,
          );
    deps.fail(toExpressRequest(ctx.req), toExpressResponse(ctx.res), view);
  };
}
