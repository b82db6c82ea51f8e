import type { Request } from 'express';
import type { PageContext } from '../../views/page-context.ts';
import { returnAddress } from './return-address.ts';

/** Where a visitor was going when the sign-in came between: the parameters that every page of it carries along. */
export interface Errand {
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
const carried = [
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
export function errandOf(req: Request, publicUrl: string): Errand {
  return errandFrom((name) => req.query[name], publicUrl);
}

const mostKept = 1_000;
/** How long each of those may be that lead on by themselves. */
const keptNames = { authorization_code: 100, client_id: 100, planHash: 100, redirect: 500 } as const;

/**
 * As much of an errand's search as is kept for days. The pending request knows its `redirect_uri` and `state`; without one
 * they are kept only where all of it is short.
 */
export function keptSearch(search: string): string {
  const given = new URLSearchParams(search);
  const textOf = (query: URLSearchParams) => (query.size > 0 ? `?${query}` : '');
  if (!given.has('authorization_code') && textOf(given).length <= mostKept) return textOf(given);
  const kept = new URLSearchParams();
  for (const [name, most] of Object.entries(keptNames)) {
    const value = given.get(name);
    if (value === null || value.length > most) continue;
    kept.set(name, value);
    // Encoded it may be longer.
    if (textOf(kept).length > mostKept) kept.delete(name);
  }
  return textOf(kept);
}

/** The same from a query that was kept (`Errand.search`). */
export function errandOfSearch(search: string, publicUrl: string): Errand {
  const parameters = new URLSearchParams(search);
  return errandFrom((name) => parameters.get(name), publicUrl);
}

function errandFrom(given: (name: string) => unknown, publicUrl: string): Errand {
  const kept = new URLSearchParams();
  for (const name of carried) {
    const value = given(name);
    if (typeof value === 'string' && value.length <= 2_000) kept.set(name, value);
  }
  const authorization = kept.get('authorization_code') || undefined;
  const returnTo = returnAddress(kept.get('redirect'), publicUrl);
  return {
    ...(authorization !== undefined && { authorization }),
    ...(returnTo !== undefined && { returnTo }),
    search: kept.size > 0 ? `?${kept}` : '',
  };
}

/** The ways to and from a sign-in, on a page of it: they lead where the visitor was going. */
export function withErrand(ctx: PageContext, search: string): PageContext {
  if (search === '') return ctx;
  const names = ['signIn', 'signUp', 'forgotPassword'] as const;
  const links = names.map((name) => [name, ctx.links[name] && `${ctx.links[name]}${search}`]);
  return { ...ctx, links: { ...ctx.links, ...Object.fromEntries(links) } };
}
