import type { Request, Router } from 'express';
import { createElement } from 'react';
import { AccessibilityPage } from '../../views/sign-in/accessibility-page.tsx';
import { ImprintPage } from '../../views/sign-in/imprint-page.tsx';
import { methodNotAllowed, type Pages } from '../http/index.ts';
import type { Legal } from './legal-documents.ts';

const documents = { imprint: ImprintPage, accessibility: AccessibilityPage } as const;

/** GET /imprint: the operator of the site. GET /accessibility: the accessibility of its pages. */
export function informationRoutes(
  router: Router,
  /** `loadPageUser` finds the signed-in user for the header. */
  { pages, legal, loadPageUser }: { pages: Pages; legal: Legal; loadPageUser(req: Request): Promise<unknown> },
): void {
  for (const name of ['imprint', 'accessibility'] as const) {
    router
      .route(`/${name}`)
      .get(async (req, res) => {
        await loadPageUser(req);
        const document = legal[name](req.language);
        pages.send({ req, res }, (ctx) => createElement(documents[name], { ctx, document }), {
          title: () => document.title,
        });
      })
      .all(methodNotAllowed('GET', 'HEAD'));
  }
}
