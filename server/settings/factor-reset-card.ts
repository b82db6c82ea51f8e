import type { Router } from 'express';
import { createElement } from 'react';
import { DeletionCancelledNotice, FactorResetNotice, FactorResetPage } from '../../views/settings/deletion-pages.tsx';
import { methodNotAllowed } from '../http/index.ts';
import type { AccountDeps } from './deps.ts';
import type { HomeCardSource } from './home-cards.ts';
import { accountHomeUrl } from './notices.ts';
import { securityHomePath } from './paths.ts';
import { type MemberHandler, requireRecentAuth } from './require-recent-auth.ts';

const path = '/settings/factor-reset';

/** Above the settings while it is pending. */
export const factorResetCard: HomeCardSource = async ({ deletion }, _req, { user }) => {
  const reset = await deletion.findPendingReset(user.id);
  return reset && ((ctx) => createElement(FactorResetNotice, { ctx, href: path, dueAtMs: reset.dueAt }));
};

/** Above the settings for a day. */
export const deletionCancelledCard: HomeCardSource = async ({ deletion }, _req, { user }) => {
  const requestedAtMs = await deletion.cancelledLately(user.id);
  if (requestedAtMs === undefined) return undefined;
  return (ctx) => createElement(DeletionCancelledNotice, { ctx, requestedAtMs });
};

function show({ deletion, pages }: AccountDeps): MemberHandler {
  return async (req, res, { user }) => {
    const reset = await deletion.findPendingReset(user.id);
    if (!reset) return res.redirect(303, securityHomePath);
    const about = { action: path, requestedAtMs: reset.requestedAt, dueAtMs: reset.dueAt };
    pages.send(req, res, 200, (ctx) => createElement(FactorResetPage, { ctx, ...about }), {
      title: (ctx) => ctx.t('leaving.reset.stopTitle'),
      address: path,
    });
  };
}

function submit({ deletion, log }: AccountDeps): MemberHandler {
  return async (_req, res, { user }) => {
    if (!(await deletion.cancelReset(user.id))) return res.redirect(303, securityHomePath);
    log.info({ act: 'factor-reset-cancelled', by: 'settings' }, 'factor reset cancelled');
    res.redirect(303, accountHomeUrl('factor-reset-stopped'));
  };
}

/** A pending removal of the second factor: the user can cancel it by presenting the factor. */
export function factorResetRoutes(router: Router, deps: AccountDeps): void {
  router
    .route(path)
    .get(requireRecentAuth(deps, show(deps)))
    .post(requireRecentAuth(deps, submit(deps)))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}
