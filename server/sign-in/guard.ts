import type { Request, Response } from 'express';
import { errandOf } from '../http/index.ts';

/**
 * Sends a visitor who must sign in first to the landing page, with the page that was wanted as `redirect` and with what
 * that page's own address says of a waiting client app (the specification's guarded-route wrapper).
 */
export function askToSignIn(req: Request, res: Response, publicUrl: string, wanted = req.originalUrl): void {
  const query = new URLSearchParams(errandOf(req, publicUrl).search);
  query.set('redirect', wanted);
  res.redirect(303, `/?${query}`);
}
