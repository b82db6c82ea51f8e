import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import { DeleteAccountPage } from '../../views/settings/deletion-pages.tsx';
import { deletionRequestedPath, waitDays } from '../deletion/index.ts';
import { HttpError, methodNotAllowed, readFormField } from '../http/index.ts';
import type { CancellationTiming } from '../membership/index.ts';
import type { AccountDeps } from './deps.ts';
import { type MemberHandler, requireRecentAuth, type SignedInUser } from './require-recent-auth.ts';

export const deleteAccountPath = '/settings/delete-account';

/** How a paid membership ends: an invalid value selects the later end, so nothing is lost. */
const readCancellationTiming = (req: Request): CancellationTiming =>
  readFormField(req, 'membership') === 'at-once' ? 'at-once' : 'period-end';

async function sendPage(
  { pages, deletion }: AccountDeps,
  req: Request,
  res: Response,
  { user }: SignedInUser,
  input: { unconfirmed: boolean; timing: CancellationTiming } = { unconfirmed: false, timing: 'period-end' },
): Promise<void> {
  const view = pages.shownAt(req, res, deleteAccountPath, input);
  if (!view) return;
  const { unconfirmed, timing } = view;
  const status = unconfirmed ? 400 : 200;
  const membership = await deletion.findRenewingSubscription(user.id);
  pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(DeleteAccountPage, {
        ctx,
        action: deleteAccountPath,
        days: waitDays,
        ...(membership && { membership: { ...membership, timing } }),
        ...(unconfirmed && { error: ctx.t('leaving.deletion.confirmMissing') }),
      }),
    { title: (ctx) => ctx.t('leaving.deletion.title'), address: deleteAccountPath },
  );
}

function submit(deps: AccountDeps): MemberHandler {
  return async (req, res, member) => {
    const timing = readCancellationTiming(req);
    if (readFormField(req, 'confirm') !== '1') return sendPage(deps, req, res, member, { unconfirmed: true, timing });
    const requested = await deps.deletion.ask(member.user, req, timing);
    if (requested.kind === 'not-found') {
      throw new HttpError('unauthorized', { detail: 'user or password has changed' });
    }
    // Deletes the browser's own cookies too.
    await deps.sessions.end(req, res);
    res.redirect(303, deletionRequestedPath);
  };
}

/** Delete account: needs a recent authentication and a ticked confirmation. */
export function deleteAccountRoutes(router: Router, deps: AccountDeps): void {
  router
    .route(deleteAccountPath)
    .get(requireRecentAuth(deps, (req, res, member) => sendPage(deps, req, res, member)))
    .post(requireRecentAuth(deps, submit(deps)))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}
