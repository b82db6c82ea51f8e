import type { Request, Response } from 'express';
import { createElement } from 'react';
import { RedirectPage, type RedirectTarget, redirectTitle } from '../../views/layout/redirect-page.tsx';
import type { Pages } from './pages.ts';

/**
 * Answers a form with a small page that redirects by itself. Browsers apply the form's own policy (`form-action
 * 'self'`) to the whole chain of redirects, so a redirect could never reach a client app or a provider.
 * @param target.to the name of the target: a client app's or a provider's
 */
export function renderRedirectPage(
  pages: Pages,
  { req, res }: { req: Request; res: Response },
  { href, to }: { href: string; to: string | { providerName: string } | undefined },
): void {
  const owner: RedirectTarget = typeof to === 'string' ? { clientName: to } : (to ?? {});
  pages.send({ req, res }, (ctx) => createElement(RedirectPage, { ctx, href, to: owner }), {
    title: (ctx) => redirectTitle(ctx, owner),
    refreshTo: href,
  });
}
