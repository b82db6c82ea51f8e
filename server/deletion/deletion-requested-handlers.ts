import type { Router } from 'express';
import { createElement } from 'react';
import { DeletionRequestedPage } from '../../views/deletion/deletion-requested-page.tsx';
import { methodNotAllowed, type Pages } from '../http/index.ts';
import { waitDays } from './request-deletion.ts';

/** The page after a request for deletion. It contains no personal data, so everyone may read it. */
export const deletionRequestedPath = '/account-deletion';

export function deletionRequestedRoute(router: Router, pages: Pages): void {
  router
    .route(deletionRequestedPath)
    .get((req, res) =>
      pages.send(req, res, 200, (ctx) => createElement(DeletionRequestedPage, { ctx, days: waitDays }), {
        title: (ctx) => ctx.t('leaving.requested.title'),
        address: deletionRequestedPath,
      }),
    )
    .all(methodNotAllowed('GET', 'HEAD'));
}
