import type { Page } from 'playwright-core';
import { translator } from '../../sandbox/texts.ts';
import type { User } from '../../server/users/index.ts';
import { plantSessions } from '../sessions/begin.ts';
import { appCode, giveTotp, show, stepMs, toChallenge } from '../sign-in/factor-steps.ts';
import { Browser } from '../support/browser.ts';
import { password, type TestFoyer } from '../support/foyer.ts';
import type { Stop } from './tour.ts';
import type { SettingsTour } from './tour-settings.ts';
import { visit as visitPage } from './visit.ts';

const phone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';

/** Signs in with a telephone, too. */
export async function alsoByPhone(foyer: TestFoyer, { email }: User): Promise<Browser> {
  const browser = new Browser(foyer.url, { 'user-agent': phone });
  const answer = await browser.post('/sign-in', { username: email, password });
  if (answer.status !== 303) throw new Error(`sign-in answered ${answer.status}`);
  return browser;
}

/** The device data of the settings: the list, and what is asked before a device is signed out or forgotten. */
export function deviceStops({ foyer, signIn }: SettingsTour): Stop[] {
  const newMember = () => foyer().addUser({ givenName: 'Vera', familyName: 'Lindqvist' });
  const withTwo = async (page: Page) => {
    const member = await newMember();
    await alsoByPhone(foyer(), member);
    await signIn(page, member);
    await page.goto(`${foyer().url}/settings?tab=device-data`);
  };
  return [
    {
      name: 'devices',
      async open(page) {
        const member = await newMember();
        await signIn(page, member);
        const secret = await giveTotp(foyer(), member);
        const browser = new Browser(foyer().url, { 'user-agent': phone });
        await toChallenge(browser, member);
        await show(browser, await appCode(foyer(), secret, stepMs), { rememberDevice: '1' });
        await page.goto(`${foyer().url}/settings?tab=device-data`);
        await page.locator('#remembered-devices').waitFor();
      },
    },
    {
      name: 'devices, many',
      async open(page) {
        const member = await newMember();
        await signIn(page, member);
        await plantSessions(foyer(), member, 60);
        // The sign-in that makes it one too many.
        await alsoByPhone(foyer(), member);
        await page.goto(`${foyer().url}/settings?tab=device-data`);
        await page.locator('.page-links').waitFor();
      },
    },
    {
      name: 'devices, sign out one',
      async open(page) {
        await withTwo(page);
        await page.goto(foyer().url + (await page.locator('#devices li a').getAttribute('href')));
      },
    },
    {
      name: 'devices, sign out all others as a dialog',
      async open(page, lang) {
        await withTwo(page);
        await page.locator('a[href="/settings/devices/sign-out-others"]').click();
        await page.getByRole('dialog', { name: translator(lang)('devices.endingOthers.title') }).waitFor();
      },
    },
    {
      name: 'devices, signed out',
      async open(page) {
        await withTwo(page);
        await visitPage(page, `${foyer().url}/settings?tab=device-data#settings:session-ended`);
      },
    },
  ];
}
