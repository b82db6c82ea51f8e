import type { Request } from 'express';
import type { PageContext } from '../../views/page-context.ts';
import { safeReturnUrl } from './return-url.ts';

/** Where a visitor was going when the sign-in came between: the parameters that every page of it carries along. */
export interface Continuation {
  /** The pending authorization request's id (the specification's `authorization_code`). */
  authorization?: string;
  /** Checked against this site. */
  returnTo?: string;
  /** The parameters as given, for links and form actions: `?…` or ''. */
  search: string;
}

/**
 * `planHash`: with which plan's link somebody came who signs up by a provider. `pending`: the authorization request that this
 * detour belongs to (request-traits.ts); nothing answers it from here.
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

/** Reads the errand from the query; parameters given twice or overlong are ignored, as they cannot be ours. */
export function continuationFrom(req: Request, publicUrl: string): Continuation {
  return readContinuation((name) => req.query[name], publicUrl);
}

const maxKept = 1_000;
/** How long each of those may be that lead on by themselves. */
const keptNames = { authorization_code: 100, client_id: 100, planHash: 100, redirect: 500 } as const;

/**
 * As much of an errand's search as is kept for days. The pending request knows its `redirect_uri` and `state`; without one
 * they are kept only where all of it is short.
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
    // Encoded it may be longer.
    if (toText(stored).length > maxKept) stored.delete(name);
  }
  return toText(stored);
}

/** The same from a query that was kept (`Errand.search`). */
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

/** The ways to and from a sign-in, on a page of it: they lead where the visitor was going. */
export function withContinuation(ctx: PageContext, search: string): PageContext {
  if (search === '') return ctx;
  const names = ['signIn', 'signUp', 'forgotPassword'] as const;
  const links = names.map((name) => [name, ctx.links[name] && `${ctx.links[name]}${search}`]);
  return { ...ctx, links: { ...ctx.links, ...Object.fromEntries(links) } };
}
