import type { Page } from 'playwright-core';
import type { User } from '../../server/users/index.ts';
import { reset } from '../password/steps.ts';
import type { Browser } from '../support/browser.ts';
import { toNormalisedEmail, toProviderId } from '../support/ids.ts';
import type { Stop } from './tour.ts';
import type { FederatedHouse } from './tour-federation.ts';
import { visit as visitPage } from './visit.ts';

const dayMs = 24 * 60 * 60_000;
const list = '/settings/providers';

/** A member's accounts elsewhere, and what is done with them. */
export function linkedStops({
  house,
  become,
}: {
  house(): Promise<FederatedHouse>;
  become(page: Page, browser: Browser, at: string): Promise<unknown>;
}): Stop[] {
  /** @param names of providers; the first was used lately. Answers the id of the first link. */
  async function addLinks(user: User, names: readonly string[]): Promise<string> {
    const { deps } = (await house()).foyer;
    const rows = names.map((provider, index) => ({
      id: `link-${index}-${user.id}`,
      userId: user.id,
      issuer: 'https://issuer.example',
      subject: `${user.id}`,
      kind: provider === 'google' ? ('google' as const) : ('oidc' as const),
      provider: toProviderId(provider),
      email: index === 0 ? toNormalisedEmail('vera.lindqvist-van-der-meulen@a-rather-long-domain.example') : null,
      linkedAt: deps.now() - (9 - index) * dayMs,
      lastUsedAt: index === 0 ? deps.now() - dayMs : null,
    }));
    await deps.database.db.insertInto('federatedIdentities').values(rows).execute();
    return rows[0]?.id ?? '';
  }
  const visit = (path: (id: string) => string, names: readonly string[], { hasPassword = true } = {}) =>
    async function open(page: Page) {
      const { foyer } = await house();
      const user = await foyer.addUser({ givenName: 'Vera', familyName: 'Lindqvist' });
      const id = names.length === 0 ? '' : await addLinks(user, names);
      await become(page, await foyer.signedIn(user), foyer.url);
      if (!hasPassword) {
        const { db } = foyer.deps.database;
        await db.updateTable('users').set({ passwordHash: null }).where('id', '=', user.id).execute();
      }
      await visitPage(page, foyer.url + path(id));
    };
  const withoutPassword = { hasPassword: false };
  return [
    { name: 'linked accounts', open: visit(() => `${list}#providers:linked`, ['google', 'closed-shop']) },
    {
      name: 'linked accounts, none',
      open: visit(() => `${list}#federation:linked-elsewhere/long`, []),
    },
    { name: 'linked accounts, link', open: visit(() => `${list}/link?provider=long`, []) },
    {
      name: 'linked accounts, the last way in',
      open: visit((id) => `${list}/remove?link=${id}`, ['google'], withoutPassword),
    },
    { name: 'settings, first password', open: visit(() => '/settings/password', ['google'], withoutPassword) },
    {
      name: 'ways in after a reset',
      async open(page) {
        const { foyer } = await house();
        const user = await foyer.addUser({ givenName: 'Vera', familyName: 'Lindqvist' });
        await addLinks(user, ['google', 'closed-shop']);
        const browser = foyer.browser();
        await reset(foyer, browser, user.email);
        await become(page, browser, foyer.url);
        await page.goto(`${foyer.url}/reset-password/ways-in`);
      },
    },
  ];
}
