import type { Router } from 'express';
import { createElement } from 'react';
import { apiReferencePath, methodNotAllowed, type Pages, readQueryParam } from '../server/http/index.ts';
import type { Sessions } from '../server/sessions/index.ts';
import type { SandboxRefusals } from './refusals.ts';
import { textsFor } from './texts.ts';
import { RefusalsPage } from './views/refusals-page.tsx';

export const refusalsAddress = '/sandbox/refusals';

export interface RefusalRoutesDeps {
  pages: Pages;
  sessions: Sessions;
  refusals: SandboxRefusals;
}

/** The page for developers of client apps: why their requests were refused. */
export function refusalRoutes(router: Router, { pages, sessions, refusals }: RefusalRoutesDeps): void {
  router
    .route(refusalsAddress)
    .get(async (req, res) => {
      await sessions.getCurrentUser(req);
      const clientId = readQueryParam(req, 'client')?.trim() || undefined;
      const listed = await refusals.list({ clientId });
      const props = { refusals: listed, clientId, address: refusalsAddress, apiHref: apiReferencePath };
      pages.send({ req, res }, (ctx) => createElement(RefusalsPage, { ctx, ...props }), {
        title: (ctx) => textsFor(ctx)('sandbox.refusalsPage.title'),
      });
    })
    .all(methodNotAllowed('GET', 'HEAD'));
}
