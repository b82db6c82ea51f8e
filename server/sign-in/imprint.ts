import type { Request, Router } from 'express';
import { createElement } from 'react';
import { ImprintPage } from '../../views/sign-in/imprint-page.tsx';
import { methodNotAllowed, type Pages } from '../http/index.ts';
import type { Legal } from './legal-documents.ts';

/** GET /imprint: the operator of the site. */
export function imprintRoute(
  router: Router,
  /** `loadPageUser` finds the signed-in user for the header. */
  { pages, legal, loadPageUser }: { pages: Pages; legal: Legal; loadPageUser(req: Request): Promise<unknown> },
): void {
  router
    .route('/imprint')
    .get(async (req, res) => {
      await loadPageUser(req);
      const document = legal.imprint(req.language);
      pages.send({ req, res }, (ctx) => createElement(ImprintPage, { ctx, document }), {
        title: () => document.title,
      });
    })
    .all(methodNotAllowed('GET', 'HEAD'));
}
