import type { Request, Response } from 'express';
import { continuationFrom } from '../http/index.ts';

/**
 * Sends a visitor who must sign in first to the landing page, with the page that was wanted as `redirect` and with what
 * that page's own address says of a waiting client app (the specification's guarded-route wrapper).
 */
export function redirectToSignIn(req: Request, res: Response, publicUrl: string, expected = req.originalUrl): void {
  const query = new URLSearchParams(continuationFrom(req, publicUrl).search);
  query.set('redirect', expected);
  res.redirect(303, `/?${query}`);
}
