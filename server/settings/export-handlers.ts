import type { Router } from 'express';
import { createElement } from 'react';
import { DataCard, DataPage } from '../../views/settings/deletion-pages.tsx';
import { waitDays } from '../deletion/index.ts';
import { methodNotAllowed } from '../http/index.ts';
import { deleteAccountPath } from './delete-account-handlers.ts';
import type { AccountDeps } from './deps.ts';
import type { HomeCardSource } from './home-cards.ts';
import { type MemberHandler, requireRecentAuth } from './require-recent-auth.ts';

const path = '/settings/data';

/** The card on the settings' home. */
export const exportCard: HomeCardSource = async () => (ctx) =>
  createElement(DataCard, { ctx, dataHref: path, deleteHref: deleteAccountPath, days: waitDays });

const show =
  ({ pages }: AccountDeps): MemberHandler =>
  (req, res) =>
    pages.send(req, res, 200, (ctx) => createElement(DataPage, { ctx, action: path }), {
      title: (ctx) => ctx.t('leaving.data.title'),
      address: path,
    });

/** A file for people first: indented, named after the day. */
const download =
  ({ deletion, log, now }: AccountDeps): MemberHandler =>
  async (_req, res, { user }) => {
    const data = await deletion.findExport(user);
    log.info({ act: 'data-exported' }, 'personal data exported');
    const day = new Date(now()).toISOString().slice(0, 10);
    res.setHeader('Cache-Control', 'no-store');
    res.attachment(`account-data-${day}.json`);
    res.type('application/json').send(`${JSON.stringify(data, undefined, 2)}\n`);
  };

/** All stored data of the user, as a file. */
export function dataRoutes(router: Router, deps: AccountDeps): void {
  router
    .route(path)
    .get(requireRecentAuth(deps, show(deps)))
    .post(requireRecentAuth(deps, download(deps)))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}
