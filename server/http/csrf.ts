import type { RequestHandler } from 'express';
import { HttpError } from './errors.ts';

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Tests whether a browser sent this unsafe request from a page of this origin. `Sec-Fetch-Site: same-site` is not
 * enough: a sibling subdomain is same-site, and Lax cookies are sent from it (`security.md`, rule 9).
 */
export function isSameOrigin(headers: { site?: string; origin?: string }, origin: string): boolean {
  if (headers.origin !== undefined && headers.origin !== origin) return false;
  if (headers.site !== undefined) return headers.site === 'same-origin';
  return headers.origin === origin;
}

/**
 * Rejects unsafe requests that do not come from a page of this origin, including those with an Authorization header: a
 * gateway may add one to each request, and no page accepts a token. The JSON API precedes this check and has its own.
 */
export function rejectCrossSite(origin: string): RequestHandler {
  return (req, _res, next) => {
    if (safeMethods.has(req.method)) return next();
    const site = req.get('sec-fetch-site');
    const from = req.get('origin');
    if (isSameOrigin({ ...(site !== undefined && { site }), ...(from !== undefined && { origin: from }) }, origin)) {
      return next();
    }
    throw new HttpError('crossSite', {
      detail: `refused: sec-fetch-site ${site ?? 'absent'}, origin ${from ?? 'absent'}`,
    });
  };
}
