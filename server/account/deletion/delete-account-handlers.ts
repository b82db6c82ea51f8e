import { DeleteAccountPage } from '../../../views/account/deletion-pages.tsx';
import type { CancellationTiming } from '../../billing/index.ts';
import { type AddPage, HttpError } from '../../http/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import type { AccountDeps } from '../deps.ts';
import { toCreditText } from '../membership/membership-view.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { deletionRequestedPath } from './deletion-requested-handlers.ts';
import { requestDeletion, waitDays } from './request-deletion.ts';

export const deleteAccountPath = '/settings/delete-account';

async function renderDeletePage(
  r: UserRequest,
  { deletion, membership: billing }: AccountDeps,
  input: { unconfirmed: boolean; timing: CancellationTiming },
): Promise<void> {
  const view = r.viewAt(deleteAccountPath, input);
  if (!view) return;
  const { unconfirmed, timing } = view;
  const membership = await deletion.membership.findRenewing(r.user.id, deletion.now());
  const stored = await billing.getMembership(r.user.id);
  const credit = stored && toCreditText(r, stored, billing.catalogue.currency);
  r.render(
    DeleteAccountPage,
    {
      action: deleteAccountPath,
      days: waitDays,
      ...(membership && { membership: { ...membership, timing } }),
      ...(credit !== undefined && { credit }),
      ...(unconfirmed && { error: r.t('leaving.deletion.confirmMissing') }),
    },
    { title: 'leaving.deletion.title', address: deleteAccountPath, status: unconfirmed ? 400 : 200 },
  );
}

const show = (r: UserRequest, deps: AccountDeps) =>
  renderDeletePage(r, deps, { unconfirmed: false, timing: 'period-end' });

async function submit(r: UserRequest, deps: AccountDeps) {
  // How a paid membership ends: an invalid value selects the later end, so nothing is lost.
  const timing = r.field('membership') === 'at-once' ? 'at-once' : 'period-end';
  if (r.field('confirm') !== '1') return renderDeletePage(r, deps, { unconfirmed: true, timing });
  const requested = await requestDeletion(deps.deletion, r.user, { timing, from: r.origin });
  if (requested.kind === 'not-found') {
    throw new HttpError('unauthorized', { detail: 'user or password has changed' });
  }
  // Deletes the browser's own cookies too.
  await deps.sessions.end(r.req, r.res);
  r.redirect(deletionRequestedPath);
}

/** Delete account: needs a recent authentication and a ticked confirmation. */
export function deleteAccountRoutes(add: AddPage<AccountDeps>): void {
  add(deleteAccountPath, { get: requireRecentAuth(show), post: requireRecentAuth(submit) });
}
