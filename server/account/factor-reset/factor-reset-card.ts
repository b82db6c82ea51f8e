import { createElement } from 'react';
import { DeletionCancelledNotice, FactorResetNotice, FactorResetPage } from '../../../views/account/deletion-pages.tsx';
import { findRecentCancellation } from '../deletion/request-deletion.ts';
import type { HomeCardSource } from '../home-card-source.ts';
import { accountHomeAfter } from '../notices.ts';
import { securityHomePath } from '../paths.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { settingsPage } from '../settings-page.ts';
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

/** A pending removal of the second factor: the user can cancel it by presenting the factor. */
export const factorResetPage = settingsPage({
  path,
  title: 'leaving.reset.stopTitle',
  guard: requireRecentAuth,
  Page: FactorResetPage,
  async toProps({ user }, { database }) {
    const reset = await findWaitingReset(database.db, { userId: user.id });
    return reset ? { requestedAtMs: reset.requestedAt, dueAtMs: reset.dueAt } : securityHomePath;
  },
  async act(r, deps) {
    if (!(await cancelFactorReset(deps, r.user.id))) return securityHomePath;
    r.log.info({ act: 'factor-reset-cancelled', by: 'settings' }, 'factor reset cancelled');
    return accountHomeAfter('factor-reset-stopped');
  },
});
