import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { translator } from '../../sandbox/texts.ts';
import type { Language } from '../../server/http/index.ts';
import { andLoad, atHome } from './steps.ts';
import type { Stop } from './tour.ts';
import type { TourSteps } from './tour-steps.ts';

/** The pages of the sandbox and of its demo apps. */
export function sandboxStops(steps: TourSteps): Stop[] {
  const { guide, url, demoUrl, signIn, heading, atConsent, at } = steps;
  /** Sends a mail with a code and returns its address. */
  const sendCode = async (lang: Language) => {
    const { foyer } = guide().sandbox;
    const to = `${lang}.${randomUUID()}@a-rather-long-domain.example`;
    const values = { givenName: 'Vera', code: '493027', minutes: 10 };
    await foyer.deps.database.transaction((trx) =>
      foyer.deps.outbox.add(trx, { channel: 'mail', to, template: 'verify-email', lang, values }),
    );
    await foyer.mails(to);
    return to;
  };
  return [
    {
      name: 'search app stand-in',
      async open(page) {
        await signIn(page);
        await page.goto(url());
      },
    },
    {
      name: 'profile menu',
      async open(page) {
        await signIn(page);
        await page.goto(url());
        // By key: where the pointer is closes it again.
        await page.locator('summary').press('Enter');
        await page.locator('.menu-panel').waitFor();
      },
    },
    { name: 'sandbox', open: at('/sandbox') },
    { name: 'sign-in with the demo member', open: at('/?demo=1') },
    { name: 'help stand-in', open: at('/sandbox/help') },
    ...['main', 'account', 'parts'].map((name) => ({
      name: name === 'parts' ? 'page of parts' : `${name} app stand-in`,
      async open(page: Page) {
        await signIn(page);
        await page.goto(`${url()}/sandbox/${name}`);
      },
    })),
    {
      name: 'mailbox',
      async open(page, lang) {
        // Without the messages of other stops, which arrive at any time.
        const to = await sendCode(lang);
        await page.goto(`${url()}/sandbox/mailbox?${new URLSearchParams({ to })}`);
      },
    },
    { name: 'mailbox with nothing', open: at('/sandbox/mailbox?to=unknown@example.com') },
    {
      name: 'message in the mailbox',
      async open(page, lang) {
        await page.goto(`${url()}/sandbox/mailbox?to=${await sendCode(lang)}`);
        await page.locator('.messages a').first().click();
        await page.locator('iframe').waitFor();
      },
    },
    { name: 'all mails', open: at('/sandbox/mails') },
    {
      name: 'refused requests',
      async open(page) {
        await page.request.get(`${url()}/oauth2/authorize?client_id=a-client-that-was-never-registered`);
        await page.goto(`${url()}/sandbox/refusals`);
        await page.locator('.messages li').first().waitFor();
      },
    },
    { name: 'refused requests with nothing', open: at('/sandbox/refusals?client=unknown-app') },
    {
      name: 'demo app',
      async open(page) {
        await page.goto(demoUrl());
      },
    },
    {
      name: 'demo television',
      async open(page, lang) {
        const t = translator(lang);
        const television = /\/television$/;
        // It would load itself again.
        await page.route(television, async (route) => {
          const answer = await route.fetch({ maxRedirects: 0 });
          const { refresh: _, ...headers } = answer.headers();
          await route.fulfill({ response: answer, headers });
        });
        await page.goto(`${demoUrl()}/television`);
        const button = page.getByRole('button', {
          name: new RegExp([t('sandbox.television.ask'), t('sandbox.television.newCode')].join('|')),
        });
        await andLoad(page, () => button.click());
        await heading(page, t('sandbox.television.codeTitle'));
      },
    },
    {
      name: 'demo app signed in',
      async open(page, lang) {
        await signIn(page);
        await page.goto(`${demoUrl()}/sign-in`);
        await atHome(page, 'Vera Lindqvist', translator(lang));
      },
    },
    {
      name: 'demo app refused',
      async open(page, lang) {
        await atConsent(page, lang);
        await page.getByRole('button', { name: translator(lang)('oauth.consent.deny') }).click();
        await page.getByRole('alert').waitFor();
      },
    },
  ];
}
