import type { Router } from 'express';
import { createElement } from 'react';
import { DeletionAskedPage } from '../../views/leaving/deletion-asked-page.tsx';
import { methodNotAllowed, type Pages } from '../http/index.ts';
import { waitDays } from './deletion.ts';

/** Where whoever leaves is led to. It says nothing about anybody, so anybody may read it. */
export const deletionAskedPath = '/account-deletion';

export function deletionAskedRoute(router: Router, pages: Pages): void {
  router
    .route(deletionAskedPath)
    .get((req, res) =>
      pages.send(req, res, 200, (ctx) => createElement(DeletionAskedPage, { ctx, days: waitDays }), {
        title: (ctx) => ctx.t('leaving.asked.title'),
        address: deletionAskedPath,
      }),
    )
    .all(methodNotAllowed('GET', 'HEAD'));
}
