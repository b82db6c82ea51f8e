import type { Request, RequestHandler, Response, Router } from 'express';
import { createElement } from 'react';
import {
  CancelFactorResetPage,
  FactorResetCancelledPage,
  FactorResetExpiredPage,
} from '../../views/deletion/cancel-factor-reset-page.tsx';
import { methodNotAllowed, type Pages, readFormField, readQueryParam } from '../http/index.ts';
import type { DeletionDeps } from './deps.ts';
import { cancelFactorReset, cancelPath, findCancellable } from './factor-reset.ts';

interface PageDeps extends DeletionDeps {
  pages: Pages;
}

function sendGone({ pages }: PageDeps, req: Request, res: Response): void {
  const view = pages.shownAt(req, res, cancelPath, { status: 404 });
  if (!view) return;
  pages.send(req, res, view.status, (ctx) => createElement(FactorResetExpiredPage, { ctx }), {
    title: (ctx) => ctx.t('leaving.reset.expiredTitle'),
    address: cancelPath,
  });
}

/** The page of a link. Mail services open links before their readers do, so a GET changes nothing. */
function show(deps: PageDeps): RequestHandler {
  return async (req, res) => {
    const { pages } = deps;
    if (readQueryParam(req, 'done') !== undefined) {
      return pages.send(req, res, 200, (ctx) => createElement(FactorResetCancelledPage, { ctx }), {
        title: (ctx) => ctx.t('leaving.reset.doneTitle'),
        address: `${cancelPath}?done`,
      });
    }
    const token = readQueryParam(req, 'token') ?? '';
    const reset = await findCancellable(deps, token);
    if (!reset) return sendGone(deps, req, res);
    const about = { action: cancelPath, token, requestedAtMs: reset.requestedAt, dueAtMs: reset.dueAt };
    pages.send(req, res, 200, (ctx) => createElement(CancelFactorResetPage, { ctx, ...about }), {
      title: (ctx) => ctx.t('leaving.reset.pageTitle'),
      address: `${cancelPath}?${new URLSearchParams({ token })}`,
    });
  };
}

function submit(deps: PageDeps): RequestHandler {
  return async (req, res) => {
    const reset = await findCancellable(deps, readFormField(req, 'token'));
    if (!reset || !(await cancelFactorReset(deps, reset.userId))) return sendGone(deps, req, res);
    deps.log.info({ act: 'factor-reset-cancelled', by: 'link' }, 'factor reset cancelled');
    res.redirect(303, `${cancelPath}?done`);
  };
}

export function cancelFactorResetRoutes(router: Router, deps: PageDeps): void {
  router
    .route(cancelPath)
    .get(show(deps))
    .post(submit(deps))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}
