import type { Request, Response } from 'express';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { type ErrorKind, HttpError } from '../http/index.ts';
import { StoreUnavailable } from '../store/index.ts';
import type { OauthDeps } from './deps.ts';

/** Which page an error of the library gets. "Must not redirect" is part of each: a page is all that the visitor sees. */
function kindOf(error: Error): ErrorKind {
  switch (error.name) {
    case 'InvalidClient':
      return 'unknownClient';
    case 'InvalidRedirectUri':
      return 'redirectNotRegistered';
    case 'SessionNotFound':
      return 'requestExpired';
    default:
      return 'status' in error && typeof error.status === 'number' && error.status < 500
        ? 'authorizationFailed'
        : 'internal';
  }
}

/** The library's error page, as one of ours. */
export function createRenderError(fail: OauthDeps['fail']) {
  return (ctx: KoaContextWithOIDC, out: { error: string; error_description?: string }, error: Error): void => {
    ctx.respond = false;
    const detail = [out.error, out.error_description, Reflect.get(error, 'error_detail')].filter(Boolean).join(': ');
    // A store that is away has its own answer, which says when to come back.
    const shown = error instanceof StoreUnavailable ? error : new HttpError(kindOf(error), { detail, cause: error });
    fail(ctx.req as Request, ctx.res as Response, shown);
  };
}
