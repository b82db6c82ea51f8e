import type { Request } from 'express';
import type { PageContext } from '../../views/page-context.ts';

/** The target of a visitor who must sign in first: the parameters that every page of the sign-in passes on. */
export interface Continuation {
  /** The pending authorization request's id (the specification's `authorization_code`). */
  authorization?: string;
  /** An address of this site; checked. */
  returnTo?: string;
  /** The parameters as given, for links and form actions: `?…` or ''. */
  search: string;
}

/**
 * `planHash`: the plan link of a visitor who signs up with a provider. `pending`: the authorization request to which
 * this detour belongs (request-traits.ts); it is not answered from here.
 */
const continuationParams = [
  'client_id',
  'redirect_uri',
  'authorization_code',
  'state',
  'redirect',
  'forceAuth',
  'planHash',
  'pending',
] as const;

/**
 * Reads the continuation from the query. Repeated or overlong parameters are ignored, because Foyer never writes them.
 */
export function continuationFrom(req: Request, publicUrl: string): Continuation {
  return readContinuation((name) => req.query[name], publicUrl);
}

const maxKept = 1_000;
/** Maximum lengths of the parameters that are kept for days. */
const keptNames = { authorization_code: 100, client_id: 100, planHash: 100, redirect: 500 } as const;

/**
 * The part of a continuation's query that is kept for days. A pending request has its own `redirect_uri` and `state`;
 * without a request they are kept only if all of it is short.
 */
export function keptSearch(search: string): string {
  const input = new URLSearchParams(search);
  const toText = (query: URLSearchParams) => (query.size > 0 ? `?${query}` : '');
  if (!input.has('authorization_code') && toText(input).length <= maxKept) return toText(input);
  const stored = new URLSearchParams();
  for (const [name, max] of Object.entries(keptNames)) {
    const value = input.get(name);
    if (value === null || value.length > max) continue;
    stored.set(name, value);
    // Percent-encoding can make the value longer.
    if (toText(stored).length > maxKept) stored.delete(name);
  }
  return toText(stored);
}

/** Reads the continuation from a stored query (`Continuation.search`). */
export function continuationFromQuery(search: string, publicUrl: string): Continuation {
  const parameters = new URLSearchParams(search);
  return readContinuation((name) => parameters.get(name), publicUrl);
}

function readContinuation(input: (name: string) => unknown, publicUrl: string): Continuation {
  const stored = new URLSearchParams();
  for (const name of continuationParams) {
    const value = input(name);
    if (typeof value === 'string' && value.length <= 2_000) stored.set(name, value);
  }
  const authorization = stored.get('authorization_code') || undefined;
  const returnTo = safeReturnUrl(stored.get('redirect'), publicUrl);
  return {
    ...(authorization !== undefined && { authorization }),
    ...(returnTo !== undefined && { returnTo }),
    search: stored.size > 0 ? `?${stored}` : '',
  };
}

/** Adds the continuation to the links from and to the sign-in pages. */
export function withContinuation(ctx: PageContext, search: string): PageContext {
  if (search === '') return ctx;
  const names = ['signIn', 'signUp', 'forgotPassword'] as const;
  const links = names.map((name) => [name, ctx.links[name] && `${ctx.links[name]}${search}`]);
  return { ...ctx, links: { ...ctx.links, ...Object.fromEntries(links) } };
}

/** Longer than any address of this site with a pending request in it. */
const maxReturnUrl = 2_000;
const neverReturnTo = /^\/+(?:logout|storage|sign-in|oauth2)(?:\/|$)/;
/** Addresses of this site never contain these. A proxy that decodes them a second time might see another path. */
const notOurs = /[%;]/;

/**
 * A `redirect` parameter as an absolute address of this site, or undefined when it is not one (`security.md`, rule 10).
 * The parsed `href` is returned, never the text: `/.//evil.example` has our origin but the path `//evil.example`.
 */
export function safeReturnUrl(redirect: unknown, publicUrl: string): string | undefined {
  if (typeof redirect !== 'string' || redirect === '' || redirect.length > maxReturnUrl) return undefined;
  const url = URL.parse(redirect, publicUrl);
  const site = new URL(publicUrl);
  // A `blob:` address has the origin of the site that made it; only its scheme differs.
  if (!url || url.origin !== site.origin || url.protocol !== site.protocol) return undefined;
  if (url.username !== '' || url.password !== '' || url.href.length > maxReturnUrl) return undefined;
  if (notOurs.test(url.pathname) || neverReturnTo.test(url.pathname.toLowerCase())) return undefined;
  return url.href;
}
