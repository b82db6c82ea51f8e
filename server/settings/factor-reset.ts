import type { Router } from 'express';
import { createElement } from 'react';
import { DeletionCancelledNotice, FactorResetNotice, FactorResetPage } from '../../views/settings/leaving-pages.tsx';
import { methodNotAllowed } from '../http/index.ts';
import type { CardSource } from './cards.ts';
import type { SettingsDeps } from './deps.ts';
import { type MemberHandler, recently } from './guard.ts';
import { mfaHome } from './mfa-paths.ts';
import { homeAfter } from './notices.ts';

const path = '/settings/factor-reset';

/** Above the settings while it waits. */
export const factorResetCard: CardSource = async ({ leaving }, _req, { user }) => {
  const reset = await leaving.waitingReset(user.id);
  return reset && ((ctx) => createElement(FactorResetNotice, { ctx, href: path, dueAtMs: reset.dueAt }));
};

/** Above the settings for a day. */
export const deletionCancelledCard: CardSource = async ({ leaving }, _req, { user }) => {
  const requestedAtMs = await leaving.cancelledLately(user.id);
  if (requestedAtMs === undefined) return undefined;
  return (ctx) => createElement(DeletionCancelledNotice, { ctx, requestedAtMs });
};

function show({ leaving, pages }: SettingsDeps): MemberHandler {
  return async (req, res, { user }) => {
    const reset = await leaving.waitingReset(user.id);
    if (!reset) return res.redirect(303, mfaHome);
    const about = { action: path, requestedAtMs: reset.requestedAt, dueAtMs: reset.dueAt };
    pages.send(req, res, 200, (ctx) => createElement(FactorResetPage, { ctx, ...about }), {
      title: (ctx) => ctx.t('leaving.reset.stopTitle'),
      address: path,
    });
  };
}

function submit({ leaving, log }: SettingsDeps): MemberHandler {
  return async (_req, res, { user }) => {
    if (!(await leaving.cancelReset(user.id))) return res.redirect(303, mfaHome);
    log.info({ act: 'factor-reset-cancelled', by: 'settings' }, 'a member keeps the second factor');
    res.redirect(303, homeAfter('factor-reset-stopped'));
  };
}

/** A second factor that an operator was asked to take away: kept by whoever can still show it. */
export function factorResetRoutes(router: Router, deps: SettingsDeps): void {
  router
    .route(path)
    .get(recently(deps, show(deps)))
    .post(recently(deps, submit(deps)))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}
