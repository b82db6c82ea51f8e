import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import { DeleteAccountPage } from '../../views/settings/leaving-pages.tsx';
import { field, HttpError, methodNotAllowed } from '../http/index.ts';
import { deletionAskedPath, type MembershipEnd, waitDays } from '../leaving/index.ts';
import type { SettingsDeps } from './deps.ts';
import { type MemberHandler, recently, type SignedIn } from './guard.ts';

export const deleteAccountPath = '/settings/delete-account';

/** How a paid membership ends: nothing is lost by a word that is none. */
const wishOf = (req: Request): MembershipEnd => (field(req, 'membership') === 'at-once' ? 'at-once' : 'period-end');

async function sendPage(
  { pages, leaving }: SettingsDeps,
  req: Request,
  res: Response,
  { user }: SignedIn,
  given: { unconfirmed: boolean; wish: MembershipEnd } = { unconfirmed: false, wish: 'period-end' },
): Promise<void> {
  const shown = pages.shownAt(req, res, deleteAccountPath, given);
  if (!shown) return;
  const { unconfirmed, wish } = shown;
  const status = unconfirmed ? 400 : 200;
  const membership = await leaving.membershipOf(user.id);
  pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(DeleteAccountPage, {
        ctx,
        action: deleteAccountPath,
        days: waitDays,
        ...(membership && { membership: { ...membership, wish } }),
        ...(unconfirmed && { error: ctx.t('leaving.deletion.confirmMissing') }),
      }),
    { title: (ctx) => ctx.t('leaving.deletion.title'), address: deleteAccountPath },
  );
}

function submit(deps: SettingsDeps): MemberHandler {
  return async (req, res, member) => {
    const wish = wishOf(req);
    if (field(req, 'confirm') !== '1') return sendPage(deps, req, res, member, { unconfirmed: true, wish });
    const asked = await deps.leaving.ask(member.user, req, wish);
    if (asked.kind === 'gone') {
      throw new HttpError('unauthorized', { detail: 'the member, or their password, has changed meanwhile' });
    }
    // The browser forgets what it had, too.
    await deps.sessions.end(req, res);
    res.redirect(303, deletionAskedPath);
  };
}

/** Delete account: who has shown lately who they are, and ticks that it is meant. */
export function deleteAccountRoutes(router: Router, deps: SettingsDeps): void {
  router
    .route(deleteAccountPath)
    .get(recently(deps, (req, res, member) => sendPage(deps, req, res, member)))
    .post(recently(deps, submit(deps)))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}
