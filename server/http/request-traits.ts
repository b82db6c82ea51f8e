import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import type { HostCookies } from './cookies.ts';
import { readFormField } from './form-fields.ts';
import { type Language, supportedLanguage } from './language.ts';

/** The parameters of an authorization request that change how every page of it is answered (OpenID Connect Core 1.0, 3.1.2.1). */
export interface RequestTraits {
  /** `display=popup`: the page that opened the window keeps its link to it. */
  popup: boolean;
  /** The first language of `ui_locales` that Foyer has. */
  lang?: Language | undefined;
}

const noTraits: RequestTraits = { popup: false };
const authorization = '/oauth2/authorize';
export const requestCookiePrefix = 'foyer_request_';

/** One cookie for each pending request: two tabs of a fresh browser would overwrite one that they share. */
export const requestCookie = (id: string) =>
  `${requestCookiePrefix}${createHash('sha256').update(id).digest('hex').slice(0, 16)}`;

/** The traits that the parameters of a request ask for; other values have no effect. */
export function traitsOfParameters(input: { display?: unknown; ui_locales?: unknown }): RequestTraits {
  const tags = typeof input.ui_locales === 'string' ? input.ui_locales.slice(0, 500).split(' ') : [];
  const lang = tags.map(supportedLanguage).find((one) => one !== undefined);
  return { popup: input.display === 'popup', ...(lang !== undefined && { lang }) };
}

/** The traits as text for the second part of the cookie. No random part has a `~` (RFC 4648, section 5). */
export const toMark = ({ popup, lang }: RequestTraits) => (popup || lang ? `~${popup ? 'p' : ''}~${lang ?? ''}` : '');

function traitsOfCookie(value: string | undefined): RequestTraits {
  const [, mark = '', lang] = (value?.split('.')[1] ?? '').split('~');
  return { popup: mark === 'p', lang: supportedLanguage(lang) };
}

const toQuery = (address: string) => new URLSearchParams(address.split('?')[1]?.split('#')[0] ?? '');

/**
 * The pending request that an address names, or the address behind its `redirect`. `pending` stands where a page belongs to a
 * request, and `authorization_code` would make the sign-in answer it.
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

/** Pages that a pending request can lead to. Every other page keeps its own window, whatever its address says. */
const pagesOfRequests =
  /^\/(?:$|oauth2\/authorize(?:$|\/)|(?:sign-in|second-factor|re-authenticate|tos|federation|signup|verify-code|post-signup|plan-purchase|plan-purchase-appsumo|forgot-password|reset-password|consent|begin-again|not-in-plan|verify-user|storage|login)(?:$|\/))/;

const joined = new WeakMap<IncomingMessage, RequestTraits>();

/** The traits of the request whose page in this browser is at `address`. */
export function requestTraits(cookies: HostCookies, req: IncomingMessage, address: string): RequestTraits {
  if (!address.includes('?') && !address.startsWith(authorization)) return noTraits;
  const path = (address.split('?', 1)[0] ?? '').replace(/^\/oauth2\/authorize\/$/, authorization);
  if (!pagesOfRequests.test(path)) return noTraits;
  if (path === authorization) return traitsOfParameters(Object.fromEntries(toQuery(address)));
  const id = requestNamedBy(address);
  return id === undefined ? noTraits : traitsOfCookie(cookies.read(req, requestCookie(id)));
}

/**
 * The traits of the request that this answer belongs to. Its address names the request, and the host-only cookie of that
 * request, which another site can neither read nor set, has the traits: one window in a popup changes no other.
 */
export function toTraits(cookies: HostCookies, req: IncomingMessage & { originalUrl?: string }): RequestTraits {
  return joined.get(req) ?? requestTraits(cookies, req, req.originalUrl ?? req.url ?? '');
}

/**
 * The page that opened this window keeps its link to it (HTML, "cross-origin opener policies"). Browsers compare every
 * response on the way, redirects too, so each one of a request has this value.
 */
export function keepOpener(res: ServerResponse): void {
  if (!res.headersSent) res.setHeader('Cross-Origin-Opener-Policy', 'unsafe-none');
}

/** For an answer whose own address does not name its request: `address` is a page of the request in this browser. */
export function belongToRequest(
  cookies: HostCookies,
  req: IncomingMessage,
  res: ServerResponse,
  address: string,
): void {
  const traits = requestTraits(cookies, req, address);
  if (traits.popup) keepOpener(res);
  if (traits.popup || traits.lang) joined.set(req, traits);
}

/** Behind the parsers of bodies: some forms name their request in a field. */
export function requestOfForm(cookies: HostCookies): RequestHandler {
  return (req, res, next) => {
    const id = req.method === 'POST' ? readFormField(req, 'authorization_code') : '';
    if (id !== '') belongToRequest(cookies, req, res, `${req.path}?${new URLSearchParams({ authorization_code: id })}`);
    next();
  };
}
