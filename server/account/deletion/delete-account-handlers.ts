import { createElement } from 'react';
import { DeleteAccountPage, DeleteCard } from '../../../views/account/deletion-pages.tsx';
import { findRefund, readAnnouncedDeletion, readAnnouncedEndsAt } from '../../billing/index.ts';
import { HttpError } from '../../http/index.ts';
import type { HomeCardSource } from '../home-card-source.ts';
import { toCreditText } from '../membership/membership-view.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { settingsPage } from '../settings-page.ts';
import { deletionRequestedPath } from './deletion-requested-handlers.ts';
import { requestDeletion, waitDays } from './request-deletion.ts';

const deleteAccountPath = '/settings/delete-account';

/** The last card on the settings' home. */
export const deleteCard: HomeCardSource = async () => (ctx) =>
  createElement(DeleteCard, { ctx, deleteHref: deleteAccountPath, days: waitDays });

/** Delete account: needs a recent authentication and a ticked confirmation. */
export const deleteAccountPage = settingsPage({
  path: deleteAccountPath,
  title: 'leaving.deletion.title',
  guard: requireRecentAuth,
  Page: DeleteAccountPage,
  async toProps(r, { deletion, membership: billing }) {
    const membership = await deletion.membership.findRenewing(r.user.id, deletion.now());
    const stored = await billing.getMembership(r.user.id);
    const credit = stored && toCreditText(r, stored, billing.catalogue.currency);
    const isPaid = membership && !membership.unpaid;
    const of = { membership: billing, act: 'deletion' } as const;
    const end = isPaid ? await findRefund(r, of, r.user.id) : undefined;
    return { days: waitDays, membership: membership && { ...membership, end }, timing: 'period-end' as const, credit };
  },
  async act(r, deps) {
    // How a paid membership ends: an invalid value selects the later end, so nothing is lost.
    const timing = r.field('membership') === 'at-once' ? ('at-once' as const) : ('period-end' as const);
    if (r.field('confirm') !== '1') return { status: 400, timing, error: r.t('leaving.deletion.confirmMissing') };
    const refund = await deps.membership.confirmDeletion(r.user.id, readAnnouncedDeletion(r));
    if (refund === 'changed') return { status: 409, timing, problem: { text: r.t('leaving.deletion.changed') } };
    const how = { timing, announcedEndsAt: readAnnouncedEndsAt(r), refund, from: r.origin };
    const requested = await requestDeletion(deps.deletion, r.user, how);
    if (requested.kind === 'not-found') {
      throw new HttpError('unauthorized', { detail: 'user or password has changed' });
    }
    // Deletes the browser's own cookies too.
    await deps.sessions.end(r);
    return deletionRequestedPath;
  },
});
