import { continuationFrom, type HttpExchange } from '../http/index.ts';

/**
 * Sends a visitor to the landing page to sign in first, with the requested page as `redirect` and with the pending
 * request from that page's own address (the specification's guarded-route wrapper).
 */
export function redirectToSignIn({ req, res }: HttpExchange, publicUrl: string, page = req.originalUrl): void {
  const query = new URLSearchParams(continuationFrom(req, publicUrl).search);
  query.set('redirect', page);
  res.redirect(303, `/?${query}`);
}
