import type { Page } from 'playwright-core';
import { translator } from '../../sandbox/texts.ts';
import type { Language } from '../../server/http/index.ts';
import { type Device, device } from '../support/devices.ts';
import { andLoad } from './steps.ts';
import type { Stop } from './tour.ts';
import type { SettingsTour } from './tour-settings.ts';

const name = 'Harbour Radio';

/** Sign-in on a device without a browser: the code that is typed here, the question, and how it ended. */
export function deviceCodeStops({ foyer, signIn }: SettingsTour): Stop[] {
  let registered: Promise<Device> | undefined;
  const radio = () => {
    registered ??= device(foyer(), { name, thirdParty: true });
    return registered;
  };
  const type = async (page: Page, lang: Language, code: string) => {
    await page.goto(`${foyer().url}/device?user_code=${code}`);
    const submit = page.getByRole('button', { name: translator(lang)('oauth.device.enter.submit'), exact: true });
    await andLoad(page, () => submit.click());
  };
  const heading = (page: Page, text: string) => page.getByRole('heading', { level: 1, name: text }).waitFor();
  const atQuestion = async (page: Page, lang: Language) => {
    await signIn(page, await foyer().addUser({ givenName: 'Vera', familyName: 'Lindqvist' }));
    await type(page, lang, (await (await radio()).ask()).user_code);
    await heading(page, translator(lang)('oauth.device.confirm.title', { clientName: name }));
  };
  return [
    {
      name: 'device, code',
      async open(page) {
        await page.goto(`${foyer().url}/device`);
      },
    },
    {
      name: 'device, code unknown',
      async open(page, lang) {
        await type(page, lang, 'BCDF-GHJK');
        await page.locator('.field-error').waitFor();
      },
    },
    {
      name: 'device, code of a page that is too old',
      async open(page, lang) {
        await page.goto(`${foyer().url}/device?user_code=BCDF-GHJK`);
        await page.locator('[name=xsrf]').evaluate((field) => field.setAttribute('value', ''));
        const submit = page.getByRole('button', { name: translator(lang)('oauth.device.enter.submit'), exact: true });
        await andLoad(page, () => submit.click());
        await page.getByText(translator(lang)('oauth.device.faults.stale')).waitFor();
      },
    },
    { name: 'device, question', open: atQuestion },
    {
      name: 'device, consent',
      otherWords: true,
      async open(page, lang) {
        await atQuestion(page, lang);
        const t = translator(lang);
        const allow = page.getByRole('button', { name: t('oauth.device.confirm.allow') });
        await andLoad(page, () => allow.click());
        await heading(page, t('oauth.consent.title', { clientName: name }));
      },
    },
    {
      name: 'device, done',
      async open(page) {
        await page.goto(`${foyer().url}/device/done?client_id=${(await radio()).id}`);
      },
    },
    {
      name: 'device, refused',
      async open(page, lang) {
        await atQuestion(page, lang);
        const t = translator(lang);
        const refuse = page.getByRole('button', { name: t('oauth.device.confirm.refuse') });
        await andLoad(page, () => refuse.click());
        await heading(page, t('oauth.device.refused.title'));
      },
    },
  ];
}
