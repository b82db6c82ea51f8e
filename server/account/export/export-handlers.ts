import { createElement } from 'react';
import { DataCard, DataPage } from '../../../views/account/deletion-pages.tsx';
import type { HomeCardSource } from '../home-card-source.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { settingsPage } from '../settings-page.ts';
import { exportPersonalData } from './export-personal-data.ts';

const path = '/settings/data';

/** The card on the settings' home. */
export const exportCard: HomeCardSource = async ({ user }, { terms }) => {
  const { acceptedTosVersion: version, acceptedTosAt: acceptedAtMs } = user;
  // Only the current version has a known label.
  const label = version === terms.number ? terms.label : String(version);
  return (ctx) =>
    createElement(DataCard, { ctx, dataHref: path, terms: version === null ? null : { label, acceptedAtMs } });
};

/** All stored data of the user, as a file for people first: indented, named after the day. */
export const exportPage = settingsPage({
  path,
  title: 'leaving.data.title',
  guard: requireRecentAuth,
  Page: DataPage,
  toProps: () => ({}),
  async act(r, { deletion, now }) {
    const data = await exportPersonalData(deletion, r.user);
    r.log.info({ act: 'data-exported' }, 'personal data exported');
    const day = new Date(now()).toISOString().slice(0, 10);
    r.res.setHeader('Cache-Control', 'no-store');
    r.res.attachment(`account-data-${day}.json`);
    r.res.type('application/json').send(`${JSON.stringify(data, undefined, 2)}\n`);
    return undefined;
  },
});
