import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { ErrorPage } from '../../views/errors/error-page.tsx';
import { errorTexts } from '../../views/errors/error-texts.ts';
import { NotFoundPage } from '../../views/errors/not-found-page.tsx';
import { StoreUnavailable } from '../store/index.ts';
import { type ErrorAction, HttpError, problemType } from './errors.ts';
import { isJsonRoute } from './json-routes.ts';
import type { T } from './language.ts';
import { type Logger, requestReference, withRequestContext } from './log.ts';
import type { Pages } from './pages.ts';
import { setRetryAfter } from './retry-after.ts';

/** After how many seconds a store that is away may be asked again. */
export const unavailableRetrySeconds = 5;

/** What Express and its parsers throw, as our own errors; anything unknown is one generic error. */
export function asHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof StoreUnavailable)
    return new HttpError('unavailable', {
      cause: error,
      detail: error.message,
      retryAfterSeconds: unavailableRetrySeconds,
    });
  const { type, status } = (typeof error === 'object' && error !== null ? error : {}) as {
    type?: unknown;
    status?: unknown;
  };
  // Its message and its body quote what was sent, which may be a password.
  if (type === 'entity.parse.failed') return new HttpError('badRequest', { detail: 'the body is not JSON' });
  if (type === 'entity.too.large' || type === 'parameters.too.many') return new HttpError('tooLarge', { cause: error });
  // Their messages quote a header.
  if (type === 'encoding.unsupported' || type === 'charset.unsupported')
    return new HttpError('unsupportedType', { detail: `${type.split('.', 1)[0]} of the body is not supported` });
  if (typeof status === 'number' && status >= 400 && status < 500) return new HttpError('badRequest', { cause: error });
  return new HttpError('internal', { cause: error });
}

/** Whether the caller reads JSON rather than pages. */
function wantsJson(req: Request): boolean {
  return (
    isJsonRoute(req) || req.is('application/json') === 'application/json' || req.accepts(['html', 'json']) === 'json'
  );
}

export function sendError(pages: Pages, log: Logger, error: HttpError, req: Request, res: Response): void {
  const reference = requestReference(req);
  const {
    allow,
    retryAfterSeconds,
    headers = {},
    invalidParams,
    detail,
    publicDetail,
    extra,
    redirectTo,
    action,
    cause,
  } = error.options;
  const level = error.status >= 500 ? 'error' : 'info';
  withRequestContext(req, () => log[level]({ kind: error.kind, detail, err: cause }, 'request refused'));
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  if (allow) res.setHeader('Allow', allow.join(', '));
  if (retryAfterSeconds !== undefined) setRetryAfter(res, retryAfterSeconds * 1000);
  const ctx = pages.context(req, res);
  const { title, message } = errorTexts(ctx.t, error.kind, { retryAfterSeconds });
  if (wantsJson(req)) {
    res.status(error.status).type('application/problem+json');
    res.send(
      JSON.stringify({
        type: problemType(error.kind),
        title,
        status: error.status,
        detail: publicDetail ?? message,
        instance: `urn:foyer:reference:${reference}`,
        ...(invalidParams && { errors: invalidParams }),
        ...extra,
      }),
    );
    return;
  }
  if (redirectTo !== undefined) {
    // Also where Express has not been.
    res.statusCode = 303;
    res.setHeader('Location', redirectTo);
    res.end();
    return;
  }
  pages.send(
    req,
    res,
    error.status,
    (page) =>
      createElement(ErrorPage, {
        ctx: page,
        status: error.status,
        title,
        message,
        reference,
        action: toErrorAction(page.t, action),
      }),
    { title: () => title },
  );
}

function toErrorAction(t: T, way: ErrorAction | undefined): { href: string; label: string } {
  if (way === undefined) return { href: '/', label: t('errors.home') };
  const { href, clientName, signsOut } = way;
  if (signsOut) return { href, label: t('errors.signOutFailed.action') };
  return { href, label: clientName === undefined ? t('errors.again') : t('errors.toApp', { clientName }) };
}

/** The last handler: nothing that was thrown leaves without a clear answer and a log line with its reference. */
export function errorHandler(pages: Pages, log: Logger): ErrorRequestHandler {
  return (error, req, res, next) => {
    const httpError = asHttpError(error);
    if (res.headersSent) {
      withRequestContext(req, () => log.error({ err: error }, 'failed after the answer had begun'));
      return next(error);
    }
    // What a handler had prepared for its own answer must not colour this one.
    res.removeHeader('Location');
    sendError(pages, log, httpError, req, res);
  };
}

/**
 * 404: the second wording is for paths under /settings and /signup (the specification's two variants).
 * @param lookUp finds out who is there, for the header
 */
export function notFound(pages: Pages, lookUp: (req: Request) => Promise<unknown>): RequestHandler {
  return async (req, res) => {
    if (wantsJson(req)) throw new HttpError('notFound');
    await lookUp(req);
    const variant = /^\/(?:settings|signup)(?:\/|$)/.test(req.path) ? 'oops' : 'fetch';
    pages.send(req, res, 404, (ctx) => createElement(NotFoundPage, { ctx, variant, homeHref: '/' }), {
      title: (ctx) => ctx.t(variant === 'oops' ? 'errors.notFound.oopsTitle' : 'errors.notFound.title'),
    });
  };
}

/** A known path with a method that it does not have (RFC 9110, section 15.5.6). */
export function methodNotAllowed(...allow: string[]): RequestHandler {
  return () => {
    throw new HttpError('methodNotAllowed', { allow });
  };
}
