import type { Page } from 'playwright-core';
import { translator } from '../../sandbox/texts.ts';
import { setProfile, type User } from '../../server/users/index.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { andLoad } from './steps.ts';
import type { Stop } from './tour.ts';

/** What the settings' stops need of the tour. */
export interface SettingsTour {
  foyer(): TestFoyer;
  signIn(page: Page, member: User): Promise<void>;
}

/** No two members have one number. */
let veras = 0;

/** The settings' home and its acts: as pages, refused, and as dialogs. */
export function settingsStops({ foyer, signIn }: SettingsTour): Stop[] {
  /** A member who has told all that there is to tell. */
  async function vera(): Promise<User> {
    const { database, now } = foyer().deps;
    const names = { givenName: 'Vera', familyName: 'Lindqvist' };
    veras += 1;
    const phone = `+316123${45642 + veras}`;
    const member = await foyer().addUser({ ...names, phone, phoneVerified: true });
    const told = {
      birthdate: '1984-02-29',
      gender: '1',
      address: 'Oudegracht 245\n3511 NL Utrecht',
      companyName: 'Lindqvist & Daughters Furniture Restoration',
      jobTitle: 'Restorer',
      newsletter: true,
    };
    await database.transaction((trx) => setProfile(trx, member.id, { change: told, nowMs: now() }));
    return member;
  }
  const at = (path: string) => async (page: Page) => {
    await signIn(page, await vera());
    await page.goto(foyer().url + path);
  };
  const refused = (path: string, fill: Record<string, string>) => async (page: Page) => {
    await at(path)(page);
    for (const [name, text] of Object.entries(fill)) await page.locator(`[name=${name}]`).fill(text);
    await andLoad(page, () => page.locator('.dialog-card .actions button').click());
    await page.locator('.field-error').first().waitFor();
  };
  return [
    { name: 'settings', open: at('/settings') },
    { name: 'settings, user data', open: at('/settings?tab=user-data') },
    {
      name: 'settings, terms as a dialog',
      async open(page, lang) {
        await at('/settings?tab=user-data')(page);
        await page.locator('main a[href="/tos"]').click();
        await page.getByRole('dialog', { name: translator(lang)('common.footer.terms') }).waitFor();
      },
    },
    { name: 'settings, picture', open: at('/settings/picture') },
    {
      name: 'settings, picture refused',
      async open(page) {
        await at('/settings/picture')(page);
        await andLoad(page, () => page.locator('.dialog-card .actions button').first().click());
        await page.locator('.field-error').first().waitFor();
      },
    },
    { name: 'settings, edit name refused', open: refused('/settings/name', { given_name: '' }) },
    { name: 'settings, edit user data refused', open: refused('/settings/profile', { birthdate: '2999-01-01' }) },
    { name: 'settings, change password refused', open: refused('/settings/password', { new_password: 'short' }) },
    {
      name: 'settings, change password as a dialog',
      async open(page, lang) {
        await at('/settings')(page);
        await page.locator('a[href="/settings/password"]').click();
        await page.getByRole('dialog', { name: translator(lang)('settings.password.title') }).waitFor();
      },
    },
  ];
}
