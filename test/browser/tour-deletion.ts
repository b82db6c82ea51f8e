import type { Page } from 'playwright-core';
import { translator } from '../../sandbox/texts.ts';
import type { User } from '../../server/users/index.ts';
import { cancelToken, leavingMember, operatorOf } from '../account/deletion/steps.ts';
import { memberWithTotp } from '../sign-in/factor-steps.ts';
import { andLoad } from './steps.ts';
import type { Stop } from './tour.ts';
import type { SettingsTour } from './tour-settings.ts';

/** Taking one's data along, leaving, and a second factor that an operator takes away. */
export function deletionStops({ foyer, signIn }: SettingsTour): Stop[] {
  const names = { givenName: 'Vera', familyName: 'Lindqvist' };
  const visit = (path: string, member?: () => Promise<User>) => async (page: Page) => {
    await signIn(page, member ? await member() : await foyer().addUser(names));
    await page.goto(foyer().url + path);
  };
  const open = (path: string) => async (page: Page) => void (await page.goto(foyer().url + path));
  const reset = async () => {
    const { user } = await memberWithTotp(foyer(), names);
    await operatorOf(foyer())('user', 'reset-mfa', user.email);
    return user;
  };
  /** With the second factor it would not come through the form: it is asked for once more while the tour signs in. */
  const atReset = (path: string) => async (page: Page) => {
    const user = await reset();
    const { db } = foyer().deps.database;
    const set = (mfaPreference: User['mfaPreference']) =>
      db.updateTable('users').set({ mfaPreference }).where('id', '=', user.id).execute();
    await set('none');
    await signIn(page, user);
    await set('totp');
    await page.goto(foyer().url + path);
  };
  return [
    { name: 'settings, data', open: visit('/settings/data') },
    {
      name: 'settings, delete account as a dialog',
      async open(page, lang) {
        await visit('/settings?tab=user-data')(page);
        await page.locator('a[href="/settings/delete-account"]').click();
        await page.getByRole('dialog', { name: translator(lang)('leaving.deletion.title') }).waitFor();
      },
    },
    {
      name: 'settings, delete account refused',
      async open(page) {
        await visit('/settings/delete-account')(page);
        await andLoad(page, () => page.locator('.dialog-card button.danger').click());
        await page.locator('.field-error').waitFor();
      },
    },
    { name: 'leaving, asked', open: open('/account-deletion') },
    { name: 'settings, deletion cancelled', open: visit('/settings', () => leavingMember(foyer(), names)) },
    { name: 'settings, factor reset waits', open: atReset('/settings') },
    { name: 'settings, factor reset', open: atReset('/settings/factor-reset') },
    {
      name: 'factor reset by link',
      async open(page) {
        const { email } = await reset();
        const query = new URLSearchParams({ token: await cancelToken(foyer(), email) });
        await page.goto(`${foyer().url}/cancel-factor-reset?${query}`);
      },
    },
    { name: 'factor reset by link, done', open: open('/cancel-factor-reset?done') },
    { name: 'factor reset by link, gone', open: open('/cancel-factor-reset?token=long-gone') },
  ];
}
