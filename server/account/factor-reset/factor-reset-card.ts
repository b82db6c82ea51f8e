import { createElement } from 'react';
import { DeletionCancelledNotice, FactorResetNotice, FactorResetPage } from '../../../views/account/deletion-pages.tsx';
import type { AddPage } from '../../http/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import { findRecentCancellation } from '../deletion/request-deletion.ts';
import type { AccountDeps } from '../deps.ts';
import type { HomeCardSource } from '../home-card-source.ts';
import { accountHomeUrl } from '../notices.ts';
import { securityHomePath } from '../paths.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { cancelFactorReset } from './factor-reset.ts';
import { findWaitingReset } from './factor-reset-store.ts';

const path = '/settings/factor-reset';

/** Above the settings while it is pending. */
export const factorResetCard: HomeCardSource = async ({ user }, { database }) => {
  const reset = await findWaitingReset(database.db, { userId: user.id });
  return reset && ((ctx) => createElement(FactorResetNotice, { ctx, href: path, dueAtMs: reset.dueAt }));
};

/** Above the settings for a day. */
export const deletionCancelledCard: HomeCardSource = async ({ user }, { kv }) => {
  const requestedAtMs = await findRecentCancellation(kv, user.id);
  if (requestedAtMs === undefined) return undefined;
  return (ctx) => createElement(DeletionCancelledNotice, { ctx, requestedAtMs });
};

async function show(r: UserRequest, { database }: AccountDeps) {
  const reset = await findWaitingReset(database.db, { userId: r.user.id });
  if (!reset) return r.redirect(securityHomePath);
  r.render(
    FactorResetPage,
    { action: path, requestedAtMs: reset.requestedAt, dueAtMs: reset.dueAt },
    { title: 'leaving.reset.stopTitle', address: path },
  );
}

async function submit(r: UserRequest, deps: AccountDeps) {
  if (!(await cancelFactorReset(deps, r.user.id))) return r.redirect(securityHomePath);
  r.log.info({ act: 'factor-reset-cancelled', by: 'settings' }, 'factor reset cancelled');
  r.redirect(accountHomeUrl('factor-reset-stopped'));
}

/** A pending removal of the second factor: the user can cancel it by presenting the factor. */
export function factorResetRoutes(add: AddPage<AccountDeps>): void {
  add(path, { get: requireRecentAuth(show), post: requireRecentAuth(submit) });
}
