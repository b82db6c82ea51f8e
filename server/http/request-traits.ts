import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { parseUnknownJson } from '../shared/index.ts';
import type { HostCookies } from './cookies.ts';
import { type Language, supportedLanguage } from './language.ts';
import { readFormField } from './request-body.ts';

/** The parameters of an authorization request that affect all its pages (OpenID Connect Core 1.0, 3.1.2.1). */
export interface RequestTraits {
  /** `display=popup`: the page that opened the window keeps its reference to it. */
  popup: boolean;
  /** The first supported language of `ui_locales`. */
  lang?: Language | undefined;
}

const noTraits: RequestTraits = { popup: false };
const authorization = '/oauth2/authorize';
export const requestCookiePrefix = 'foyer_request_';

/** One cookie for each pending request: in two tabs of a new browser a shared cookie would be overwritten. */
export const requestCookie = (id: string) =>
  `${requestCookiePrefix}${createHash('sha256').update(id).digest('hex').slice(0, 16)}`;

/** Reads the traits from the parameters of a request; unsupported values have no effect. */
export function traitsOfParameters(input: RequestParameters): RequestTraits {
  const { display, ui_locales: locales } = toParametersOfObject(input.request) ?? input;
  const tags = typeof locales === 'string' ? locales.slice(0, 500).split(' ') : [];
  const lang = tags.map(supportedLanguage).find((one) => one !== undefined);
  return { popup: display === 'popup', ...(lang !== undefined && { lang }) };
}

interface RequestParameters {
  display?: unknown;
  ui_locales?: unknown;
  request?: unknown;
}

/**
 * The parameters within a request object (RFC 9101), which replace those beside it. Its signature is not verified here:
 * anyone may ask for a language and a popup.
 */
function toParametersOfObject(request: unknown): RequestParameters | undefined {
  const [, payload = ''] = typeof request === 'string' ? request.split('.', 3) : [];
  if (payload === '') return undefined;
  try {
    const claims = parseUnknownJson(Buffer.from(payload, 'base64url').toString());
    return typeof claims === 'object' && claims !== null ? claims : undefined;
  } catch {
    return undefined;
  }
}

/** The traits as text for the second part of the cookie. The random part never contains a `~` (RFC 4648, section 5). */
export const toMark = ({ popup, lang }: RequestTraits) => (popup || lang ? `~${popup ? 'p' : ''}~${lang ?? ''}` : '');

function traitsOfCookie(value: string | undefined): RequestTraits {
  const [, mark = '', lang] = (value?.split('.')[1] ?? '').split('~');
  return { popup: mark === 'p', ...(lang !== undefined && { lang: supportedLanguage(lang) }) };
}

const toQuery = (address: string) => new URLSearchParams(address.split('?')[1]?.split('#')[0] ?? '');

/**
 * The pending request in an address, or in the address of its `redirect` parameter. `pending` marks a page that belongs
 * to a request; with `authorization_code` the sign-in would answer the request.
 */
function requestNamedBy(address: string, isNested = false): string | undefined {
  const path = address.split('?', 1)[0] ?? '';
  if (path.startsWith(`${authorization}/`)) return path.slice(authorization.length + 1) || undefined;
  const query = toQuery(address);
  const input = ['authorization_code', 'pending'].find((name) => query.has(name));
  const ids = input === undefined ? [] : query.getAll(input);
  const redirect = query.get('redirect');
  if (ids.length === 0) return redirect === null || isNested ? undefined : requestNamedBy(redirect, true);
  return ids.length === 1 && ids[0] !== '' ? ids[0] : undefined;
}

/** Pages to which a pending request can lead. Every other page isolates its window, whatever its address contains. */
const pagesOfRequests =
  /^\/(?:$|oauth2\/authorize(?:$|\/)|(?:sign-in|second-factor|re-authenticate|tos|federation|signup|verify-code|post-signup|plan-purchase|plan-purchase-appsumo|gift|forgot-password|reset-password|consent|begin-again|not-in-plan|verify-user|storage|login)(?:$|\/))/;

/**
 * Tests whether a query may have one of the parameters of traits, also one whose name is encoded. A query ends at a
 * further `?` (see `toQuery`); and with it in a name, an address of many would take a time that grows with their square.
 */
const mayHaveTraits = /[?&](?:display|ui_locales|request|[^=&?]*%)/;

const joined = new WeakMap<IncomingMessage, RequestTraits>();

/** The traits of the request to which the page at `address` belongs in this browser. */
export function requestTraits(cookies: HostCookies, req: IncomingMessage, address: string): RequestTraits {
  if (!address.includes('?') && !address.startsWith(authorization)) return noTraits;
  const path = (address.split('?', 1)[0] ?? '').replace(/^\/oauth2\/authorize\/$/, authorization);
  // First, because every sign-in makes this request.
  if (path === authorization)
    return mayHaveTraits.test(address) ? traitsOfParameters(Object.fromEntries(toQuery(address))) : noTraits;
  if (!pagesOfRequests.test(path)) return noTraits;
  const id = requestNamedBy(address);
  return id === undefined ? noTraits : traitsOfCookie(cookies.read(req, requestCookie(id)));
}

/**
 * The traits of the request to which this answer belongs. The address names the request. The traits are in the
 * host-only cookie of that request, which another site can neither read nor set, so a window in a popup affects no
 * other window.
 */
export function toTraits(cookies: HostCookies, req: IncomingMessage & { originalUrl?: string }): RequestTraits {
  return joined.get(req) ?? requestTraits(cookies, req, req.originalUrl ?? req.url ?? '');
}

/**
 * Keeps the reference of the opener to this window (HTML, "cross-origin opener policies"). Browsers compare every
 * response on the way, including redirects, so each answer of a request sends this value.
 */
export function keepOpener(res: ServerResponse): void {
  if (!res.headersSent) res.setHeader('Cross-Origin-Opener-Policy', 'unsafe-none');
}

/** For an answer whose own address does not name its request: `address` is a page of the request in this browser. */
export function belongToRequest(
  cookies: HostCookies,
  { req, res }: { req: IncomingMessage; res: ServerResponse },
  address: string,
): void {
  const traits = requestTraits(cookies, req, address);
  if (traits.popup) keepOpener(res);
  if (traits.popup || traits.lang) joined.set(req, traits);
}

/** Follows the body parsers: some forms name their request in a field. */
export function requestOfForm(cookies: HostCookies): RequestHandler {
  return (req, res, next) => {
    const id = req.method === 'POST' ? readFormField(req, 'authorization_code') : '';
    if (id !== '') {
      belongToRequest(cookies, { req, res }, `${req.path}?${new URLSearchParams({ authorization_code: id })}`);
    }
    next();
  };
}

/**
 * A script that shows a page's form in a dialog (client/lift.ts) asks for that part alone, with this header: `dialog`,
 * or `ahead` before the member has asked for it. A page of another site cannot send the header without the permission
 * that Foyer never gives (CORS), and the answer contains nothing that the page itself does not.
 */
const partHeader = 'foyer-part';

/** Tests whether the request asks for a part of the page alone. */
export const asksForPart = (req: IncomingMessage): boolean => req.headers[partHeader] !== undefined;

/**
 * Tests whether the answer may never be shown: then it must use nothing up. `Sec-Purpose` is the browser's own header
 * for pages that it fetches ahead.
 */
export const asksAhead = ({ headers }: IncomingMessage): boolean =>
  headers[partHeader] === 'ahead' || (headers['sec-purpose'] ?? '').includes('prefetch');
