import type { Page } from 'playwright-core';
import type { Browser } from '../support/browser.ts';
import { toClientId } from '../support/ids.ts';
import type { Stop } from './tour.ts';
import type { FederatedHouse } from './tour-federation.ts';
import { visit as visitPage } from './visit.ts';

const dayMs = 24 * 60 * 60_000;
const list = '/settings/apps';

/** The client apps that a member is connected with, and their removal. */
export function connectedAppStops({
  house,
  become,
}: {
  house(): Promise<FederatedHouse>;
  become(page: Page, browser: Browser, at: string): Promise<unknown>;
}): Stop[] {
  const visit = (path: (clientId: string) => string, { connected }: { connected: boolean }) =>
    async function open(page: Page) {
      const { foyer } = await house();
      const user = await foyer.addUser({ givenName: 'Vera', familyName: 'Lindqvist' });
      const partner = await foyer.addClient({ thirdParty: true, name: 'Lindqvist & Partners Bookkeeping' });
      const other = await foyer.addClient({ thirdParty: true, name: 'Shop' });
      const { db } = foyer.deps.database;
      const nowMs = foyer.deps.now();
      const row = { userId: user.id, resources: '{}', createdAt: nowMs - 40 * dayMs, lastUsedAt: nowMs - dayMs };
      if (connected) {
        const scopes = 'openid profile email phone address membership offline_access';
        await db
          .insertInto('connectedApps')
          .values({ ...row, clientId: toClientId(partner.id), scopes })
          .execute();
        await db
          .insertInto('connectedApps')
          .values({ ...row, clientId: toClientId(other.id), scopes: 'openid email' })
          .execute();
      }
      await become(page, await foyer.signedIn(user), foyer.url);
      await visitPage(page, foyer.url + path(partner.id));
    };
  return [
    { name: 'connected apps', open: visit((id) => `${list}#connected-apps:removed/${id}`, { connected: true }) },
    { name: 'connected apps, none', open: visit(() => list, { connected: false }) },
    { name: 'connected apps, remove', open: visit((id) => `${list}/remove?client_id=${id}`, { connected: true }) },
  ];
}
