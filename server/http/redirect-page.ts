import type { Request, Response } from 'express';
import { createElement } from 'react';
import { RedirectPage, type RedirectTarget, redirectTitle } from '../../views/layout/redirect-page.tsx';
import type { Pages } from './pages.ts';

/**
 * Answers a form with a small page that goes on by itself. A redirect would be followed by the form's own policy
 * (`form-action 'self'`), which browsers apply to the whole chain, so it could never reach a client app or a provider.
 * @param to whose address it is: a client app's name, or a provider's
 */
export function renderRedirectPage(
  pages: Pages,
  req: Request,
  res: Response,
  href: string,
  to?: string | { providerName: string },
): void {
  const owner: RedirectTarget = typeof to === 'string' ? { clientName: to } : (to ?? {});
  pages.send(req, res, 200, (ctx) => createElement(RedirectPage, { ctx, href, to: owner }), {
    title: (ctx) => redirectTitle(ctx, owner),
    refreshTo: href,
  });
}
