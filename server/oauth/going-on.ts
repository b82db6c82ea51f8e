import type { Request, Response } from 'express';
import { createElement } from 'react';
import { GoingOnPage } from '../../views/oauth/going-on-page.tsx';
import type { Pages } from '../http/index.ts';

/**
 * Answers a form with a small page that goes on by itself. A redirect would be followed by the form's own policy
 * (`form-action 'self'`), which browsers apply to the whole chain, so it could never reach a client app.
 */
export function sendGoingOnPage(pages: Pages, req: Request, res: Response, href: string, clientName?: string): void {
  pages.send(
    req,
    res,
    200,
    (ctx) => createElement(GoingOnPage, { ctx, href, ...(clientName !== undefined && { clientName }) }),
    {
      title: (ctx) => ctx.t('oauth.goingOn.title'),
      refreshTo: href,
    },
  );
}
