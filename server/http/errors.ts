/**
 * Errors as values: what the visitor is told is apart from what the log is told, and what is not known
 * becomes one generic error. Handlers throw these; `error-pages.ts` answers them as a page or as JSON.
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

/** The kinds of problem that calls of the JSON API answer: `urn:foyer:problem:{kind}`. */
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
  /** For the log alone. */
  detail?: string;
  /** For callers of the JSON API, in place of the kind's own words: a text of the specification's, in English. */
  publicDetail?: string;
  retryAfterSeconds?: number;
  /** Methods for the Allow header (RFC 9110, section 15.5.6). */
  allow?: readonly string[];
  /** Further headers that belong to the answer (WWW-Authenticate). */
  headers?: Record<string, string>;
  /** For callers of the JSON API: which part of the input does not fit, and why; never with its value. */
  invalidParams?: readonly { name: string; detail: string }[];
  /** Members of the problem beside the usual ones (RFC 9457, section 3.2), for callers of the JSON API. */
  extra?: ProblemExtra;
  /** Where a browser is led instead of being shown the error: a page of this site that mends it. */
  redirectTo?: string | undefined;
  /** What the page's button leads to, in place of the start page. */
  action?: ErrorAction | undefined;
  cause?: unknown;
}

export interface ErrorAction {
  href: string;
  /** The client app that it leads to; without it what went wrong begins again. */
  clientName?: string;
  /** It leads to where the visitor signs out without the client app. */
  signsOut?: true;
}

export interface ProblemExtra {
  /** The card provider's own message: the specification's name for it. */
  errMessage?: string;
  /** For Stripe.js: the bank wants to hear from the member. */
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
