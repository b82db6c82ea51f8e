import type { ErrorRequestHandler, Request, RequestHandler } from 'express';
import { createElement } from 'react';
import { ErrorPage } from '../../views/errors/error-page.tsx';
import { errorTexts, isPageErrorKind, type PageErrorKind } from '../../views/errors/error-texts.ts';
import { NotFoundPage } from '../../views/errors/not-found-page.tsx';
import { propertyIn } from '../shared/index.ts';
import { StoreUnavailable } from '../store/index.ts';
import type { HttpExchange } from './cookies.ts';
import { type ErrorAction, HttpError, setRetryAfter, toRetrySeconds } from './errors.ts';
import type { T } from './language.ts';
import { type Logger, requestReference, withRequestContext } from './log.ts';
import { pageAccess } from './page-table.ts';
import type { Pages } from './pages.ts';
import { type ErrorKind, problems, problemType } from './problems.ts';
import { isJsonRoute } from './request-guards.ts';

/** Retry-After while a store is unavailable, in seconds. */
export const unavailableRetrySeconds = 5;

/** Converts the errors of Express and its parsers; an unknown error becomes one generic error. */
export function asHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof StoreUnavailable)
    return new HttpError('unavailable', {
      cause: error,
      detail: error.message,
      retryAfterSeconds: unavailableRetrySeconds,
    });
  const [type, status] = [propertyIn(error, 'type'), propertyIn(error, 'status')];
  // The parser's message and body quote the input, which may contain a password.
  if (type === 'entity.parse.failed') return new HttpError('badRequest', { detail: 'the body is not JSON' });
  if (type === 'entity.too.large' || type === 'parameters.too.many') return new HttpError('tooLarge', { cause: error });
  // The parser's messages quote a header.
  if (type === 'encoding.unsupported' || type === 'charset.unsupported')
    return new HttpError('unsupportedType', { detail: `${type.split('.', 1)[0]} of the body is not supported` });
  if (typeof status === 'number' && status >= 400 && status < 500) return new HttpError('badRequest', { cause: error });
  return new HttpError('internal', { cause: error });
}

/** Tests whether the caller expects JSON rather than a page. */
function wantsJson(req: Request): boolean {
  return (
    isJsonRoute(req) || req.is('application/json') === 'application/json' || req.accepts(['html', 'json']) === 'json'
  );
}

const kindByStatus: Readonly<Record<number, PageErrorKind>> = {
  400: 'badRequest',
  401: 'unauthorized',
  402: 'conflict',
  403: 'forbidden',
  404: 'notFound',
  409: 'conflict',
};

/** The page for an error: causes that only calls can have share the page of their status. */
function toPageKind(kind: ErrorKind): PageErrorKind {
  if (isPageErrorKind(kind)) return kind;
  return kindByStatus[problems[kind].status] ?? 'internal';
}

interface ErrorServices {
  pages: Pages;
  log: Logger;
}

export function sendError({ pages, log }: ErrorServices, { req, res }: HttpExchange, error: HttpError): void {
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
  if (wantsJson(req)) {
    const text = problems[error.kind];
    res.status(error.status).type('application/problem+json');
    res.send(
      JSON.stringify({
        type: problemType(error.kind),
        title: text.title,
        status: error.status,
        detail: publicDetail ?? text.detail,
        instance: `urn:foyer:reference:${reference}`,
        ...(invalidParams && { errors: invalidParams }),
        ...(retryAfterSeconds !== undefined && { retryAfter: toRetrySeconds(retryAfterSeconds * 1000) }),
        ...extra,
      }),
    );
    return;
  }
  if (redirectTo !== undefined) {
    // Node's API, because the request may not have passed through Express.
    res.statusCode = 303;
    res.setHeader('Location', redirectTo);
    res.end();
    return;
  }
  const ctx = pages.context(req, res);
  const { title, message } = errorTexts(ctx.t, toPageKind(error.kind), { retryAfterSeconds });
  pages.send(
    { req, res },
    (page) =>
      createElement(ErrorPage, {
        ctx: page,
        status: error.status,
        title,
        message,
        reference,
        action: toErrorAction(page.t, action ?? findRetry(req, error.kind)),
      }),
    { title: () => title, status: error.status },
  );
}

/** The causes that pass by themselves. */
const passing: ReadonlySet<ErrorKind> = new Set(['internal', 'busy', 'unavailable', 'tooMany']);

/** The same address, for a page that was only read: sending a form again could do its act twice. */
function findRetry(req: Request, kind: ErrorKind): ErrorAction | undefined {
  const href = req.originalUrl ?? req.url;
  // A browser takes two slashes at the beginning as another site.
  if (req.method !== 'GET' || !passing.has(kind) || !/^\/(?![/\\])/.test(href)) return undefined;
  return { href, isRetry: true };
}

function toErrorAction(t: T, way: ErrorAction | undefined): { href: string; label: string } {
  if (way === undefined) return { href: '/', label: t('errors.home') };
  const { href, clientName, signsOut, isRetry } = way;
  if (isRetry) return { href, label: t('errors.tryAgain') };
  if (signsOut) return { href, label: t('errors.signOutFailed.action') };
  return { href, label: clientName === undefined ? t('errors.startAgain') : t('errors.toApp', { clientName }) };
}

/** The last handler: every error gets an answer, and a log line with the reference that the answer shows. */
export function errorHandler(pages: Pages, log: Logger): ErrorRequestHandler {
  return (error, req, res, next) => {
    const httpError = asHttpError(error);
    if (res.headersSent) {
      withRequestContext(req, () => log.error({ err: error }, 'failed after the response had started'));
      return next(error);
    }
    // Removes the headers that a handler had already set for its own answer.
    res.removeHeader('Location');
    sendError({ pages, log }, { req, res }, httpError);
  };
}

/** The pages without parameters by their path in small letters, without a slash at the end. */
const exactPaths = new Map(
  Object.keys(pageAccess).flatMap((route) => {
    const [method, path = ''] = route.split(' ');
    return method === 'GET' && path !== '/' && !path.includes(':') ? [[toLoosePath(path), path]] : [];
  }),
);

function toLoosePath(path: string): string {
  return path.toLowerCase().replace(/\/$/, '');
}

/** Links in mails of other people often have capitals or a slash at the end. @returns the address of the page */
function findExactAddress({ method, path, originalUrl }: Request): string | undefined {
  const exact = method === 'GET' || method === 'HEAD' ? exactPaths.get(toLoosePath(path)) : undefined;
  const at = originalUrl.indexOf('?');
  return exact === undefined || exact === path ? undefined : `${exact}${at < 0 ? '' : originalUrl.slice(at)}`;
}

/**
 * 404. Paths under /settings and /signup have a wording of their own (the specification's two variants).
 * @param lookUp finds the user for the page header
 */
export function notFound(pages: Pages, lookUp: (req: Request) => Promise<unknown>): RequestHandler {
  return async (req, res) => {
    if (wantsJson(req)) throw new HttpError('notFound');
    const exact = findExactAddress(req);
    if (exact !== undefined) return res.redirect(308, exact);
    await lookUp(req);
    const variant = /^\/(?:settings|signup)(?:\/|$)/.test(req.path) ? 'oops' : 'fetch';
    pages.send({ req, res }, (ctx) => createElement(NotFoundPage, { ctx, variant, homeHref: '/' }), {
      status: 404,
      title: (ctx) => ctx.t(variant === 'oops' ? 'errors.notFound.oopsTitle' : 'errors.notFound.title'),
    });
  };
}

/** 405 for a known path with an unsupported method (RFC 9110, section 15.5.6). */
export function methodNotAllowed(...allow: string[]): RequestHandler {
  return () => {
    throw new HttpError('methodNotAllowed', { allow });
  };
}
