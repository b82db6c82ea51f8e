import type { Response } from 'express';

/**
 * Errors as values: the text for the visitor is separate from the detail for the log, and unknown errors become one
 * generic error. Handlers throw these; `error-pages.ts` answers them as a page or as JSON.
 */
export type ErrorKind =
  | 'badRequest'
  | 'validation'
  | 'unauthorized'
  | 'tokenRevoked'
  | 'insufficientAuthentication'
  | 'paymentRequired'
  | 'paymentAction'
  | 'crossSite'
  | 'forbidden'
  | 'insufficientScope'
  | 'termsNotAccepted'
  | 'notFound'
  | 'methodNotAllowed'
  | 'conflict'
  | 'tooLarge'
  | 'unsupportedType'
  | 'wrongHost'
  | 'tooMany'
  | 'headersTooLarge'
  | 'internal'
  | 'unavailable'
  | 'busy'
  | 'requestExpired'
  | 'otherBrowser'
  | 'unknownClient'
  | 'redirectNotRegistered'
  | 'authorizationFailed'
  | 'signOutFailed';

const kindStatus: Record<ErrorKind, number> = {
  badRequest: 400,
  validation: 400,
  unauthorized: 401,
  tokenRevoked: 401,
  insufficientAuthentication: 401,
  paymentRequired: 402,
  paymentAction: 402,
  crossSite: 403,
  forbidden: 403,
  insufficientScope: 403,
  termsNotAccepted: 403,
  notFound: 404,
  methodNotAllowed: 405,
  conflict: 409,
  tooLarge: 413,
  unsupportedType: 415,
  wrongHost: 421,
  tooMany: 429,
  headersTooLarge: 431,
  internal: 500,
  unavailable: 503,
  busy: 503,
  requestExpired: 400,
  otherBrowser: 403,
  unknownClient: 400,
  redirectNotRegistered: 400,
  authorizationFailed: 400,
  signOutFailed: 400,
};

/** The types of problem documents of the JSON API: `urn:foyer:problem:{kind}`. */
export const problemKinds = [
  'badRequest',
  'validation',
  'unauthorized',
  'tokenRevoked',
  'insufficientAuthentication',
  'paymentRequired',
  'paymentAction',
  'crossSite',
  'forbidden',
  'insufficientScope',
  'termsNotAccepted',
  'notFound',
  'methodNotAllowed',
  'conflict',
  'tooLarge',
  'unsupportedType',
  'wrongHost',
  'tooMany',
  'headersTooLarge',
  'internal',
  'unavailable',
  'busy',
] as const satisfies ErrorKind[];

export const problemType = (kind: ErrorKind): string => `urn:foyer:problem:${kind}`;

export interface HttpErrorOptions {
  /** Only for the log. */
  detail?: string;
  /** For callers of the JSON API, instead of the kind's own text: a text from the specification, in English. */
  publicDetail?: string;
  retryAfterSeconds?: number;
  /** Methods for the Allow header (RFC 9110, section 15.5.6). */
  allow?: readonly string[];
  /** Further headers of the answer (WWW-Authenticate). */
  headers?: Record<string, string>;
  /** For callers of the JSON API: the invalid parts of the input and the reasons; never their values. */
  invalidParams?: readonly { name: string; detail: string }[];
  /** Further members of the problem document (RFC 9457, section 3.2), for callers of the JSON API. */
  extra?: ProblemExtra;
  /** The page of this site to which a browser is redirected instead of the error page. */
  redirectTo?: string | undefined;
  /** The target of the button on the error page; the start page by default. */
  action?: ErrorAction | undefined;
  cause?: unknown;
}

export interface ErrorAction {
  href: string;
  /** The client app to which the button leads. Without it the button starts the failed step again. */
  clientName?: string;
  /** The button leads to a sign-out without the client app. */
  signsOut?: true;
}

interface ProblemExtra {
  /** The card provider's own message, under the specification's name. */
  errMessage?: string;
  /** For Stripe.js: the bank requires authentication by the user. */
  client_secret?: string;
}

export class HttpError extends Error {
  override name = 'HttpError';
  readonly kind: ErrorKind;
  readonly status: number;
  readonly options: HttpErrorOptions;
  constructor(kind: ErrorKind, options: HttpErrorOptions = {}) {
    super(options.detail ?? kind, { cause: options.cause });
    this.kind = kind;
    this.status = kindStatus[kind];
    this.options = options;
  }
}

/** For Retry-After (RFC 9110, section 10.2.3): whole seconds, at least one. */
export function toRetrySeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}

export function setRetryAfter(res: Response, ms: number): void {
  res.setHeader('Retry-After', String(toRetrySeconds(ms)));
}
