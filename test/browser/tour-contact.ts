import type { Page } from 'playwright-core';
import { translator } from '../../sandbox/texts.ts';
import { fresh, moveTo, undoPath, undoToken } from '../account/contact/steps.ts';
import { andLoad, sendCode } from './steps.ts';
import type { Stop } from './tour.ts';
import { submitAct } from './tour-mfa-settings.ts';
import type { SettingsTour } from './tour-settings.ts';

/** Addresses and numbers in the settings, their codes, and the way back from the old address. */
export function contactStops({ foyer, signIn }: SettingsTour): Stop[] {
  const newMember = () => foyer().addUser({ givenName: 'Vera', familyName: 'Lindqvist' });
  const visit = async (page: Page, path: string) => {
    // All visits come from one address.
    await foyer().deps.kv.delete('contact-email:address:127.0.0.1');
    await signIn(page, await newMember());
    await page.goto(foyer().url + path);
  };
  const typed = async (page: Page, path: string, text: string) => {
    await visit(page, path);
    await page.locator('.dialog-card form').first().locator('input').first().fill(text);
    await submitAct(page);
  };
  const refused = (path: string, text: string) => async (page: Page) => {
    await typed(page, path, text);
    await page.locator('.field-error').waitFor();
  };
  const atEmailCode = async (page: Page) => {
    await typed(page, '/settings/email', fresh().email);
    await page.locator('[name=code]').waitFor();
  };
  /** The link in a mail that was sent a moment ago. */
  const atUndo = async (page: Page) => {
    await foyer().deps.kv.delete('contact-email:address:127.0.0.1');
    const member = await newMember();
    await moveTo(foyer(), await foyer().signedIn(member), fresh().email);
    await page.goto(foyer().url + undoPath(await undoToken(foyer(), member.email)));
  };
  return [
    { name: 'settings, edit e-mail refused', open: refused('/settings/email', 'vera@') },
    {
      name: 'settings, code of an e-mail refused',
      async open(page) {
        await atEmailCode(page);
        await sendCode(page, '000000');
        await page.locator('.field-error').waitFor();
      },
    },
    { name: 'settings, edit phone refused', open: refused('/settings/phone', '0151 123') },
    {
      name: 'settings, edit phone as a dialog',
      async open(page, lang) {
        await signIn(page, await foyer().addUser({ phone: fresh().phone, phoneVerified: true }));
        await page.goto(`${foyer().url}/settings`);
        await page.locator('a[href="/settings/phone"]').first().click();
        await page.getByRole('dialog', { name: translator(lang)('contact.phone.title') }).waitFor();
      },
    },
    {
      name: 'undo of an e-mail change refused',
      async open(page) {
        await atUndo(page);
        await page.locator('[name=password]').fill('short');
        await andLoad(page, () => page.locator('form button.primary').click());
        await page.locator('.field-error').first().waitFor();
      },
    },
    {
      name: 'undo of an e-mail change, done',
      open: async (page) => void (await page.goto(`${foyer().url}/undo-email-change?done`)),
    },
    {
      name: 'undo of an e-mail change, too late',
      open: async (page) => void (await page.goto(`${foyer().url}/undo-email-change?token=long-gone`)),
    },
  ];
}
