import type { Response } from 'express';
import { type ErrorKind, problems } from './problems.ts';

/** A value of the input that is refused, with the reason. */
interface InvalidParam {
  name: string;
  /** Never the value of the caller. */
  detail: string;
  /** The value that the server has, where the caller may know it. */
  stored?: string | null;
}

export interface HttpErrorOptions {
  /** Only for the log. */
  detail?: string;
  /** For callers of the JSON API, instead of the kind's own text: English, often a text of the specification. */
  publicDetail?: string;
  retryAfterSeconds?: number;
  /** Methods for the Allow header (RFC 9110, section 15.5.6). */
  allow?: readonly string[];
  /** Further headers of the answer (WWW-Authenticate). */
  headers?: Record<string, string>;
  /** For callers of the JSON API: the invalid parts of the input and the reasons; never their values. */
  invalidParams?: readonly InvalidParam[];
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
  /** The button opens the same page again. */
  isRetry?: true;
}

interface ProblemExtra {
  /** The card provider's own message, under the specification's name. */
  errMessage?: string;
  /** For Stripe.js: the bank requires authentication by the user. */
  client_secret?: string;
  /** The scope that the token lacks (RFC 6750, section 3). */
  scope?: string;
  /** The age that an authentication may have, in seconds, and what else it needs (RFC 9470, section 3). */
  max_age?: number;
  acr_values?: string;
}

/**
 * Errors as values: the text for the caller is separate from the detail for the log, and unknown errors become one
 * generic error. Handlers throw these; `error-pages.ts` answers them as a page or as JSON.
 */
export class HttpError extends Error {
  override name = 'HttpError';
  readonly kind: ErrorKind;
  readonly status: number;
  readonly options: HttpErrorOptions;
  constructor(kind: ErrorKind, options: HttpErrorOptions = {}) {
    super(options.detail ?? kind, { cause: options.cause });
    this.kind = kind;
    this.status = problems[kind].status;
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
