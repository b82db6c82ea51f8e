import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import { DeleteAccountPage } from '../../views/settings/leaving-pages.tsx';
import { field, HttpError, methodNotAllowed } from '../http/index.ts';
import { deletionAskedPath, waitDays } from '../leaving/index.ts';
import type { SettingsDeps } from './deps.ts';
import { type MemberHandler, recently } from './guard.ts';

export const deleteAccountPath = '/settings/delete-account';

function sendPage({ pages }: SettingsDeps, req: Request, res: Response, unconfirmed = false): void {
  const status = unconfirmed ? 400 : 200;
  pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(DeleteAccountPage, {
        ctx,
        action: deleteAccountPath,
        days: waitDays,
        ...(unconfirmed && { error: ctx.t('leaving.deletion.confirmMissing') }),
      }),
    { title: (ctx) => ctx.t('leaving.deletion.title'), address: deleteAccountPath },
  );
}

function submit(deps: SettingsDeps): MemberHandler {
  return async (req, res, { user }) => {
    if (field(req, 'confirm') !== '1') return sendPage(deps, req, res, true);
    const asked = await deps.leaving.ask(user, req);
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
    .get(recently(deps, (req, res) => sendPage(deps, req, res)))
    .post(recently(deps, submit(deps)))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}
