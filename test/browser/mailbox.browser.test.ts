import type { Page } from 'playwright-core';
import { languages } from '../../locales/index.ts';
import { mailTemplates, renderMail, sampleMail } from '../../server/messages/index.ts';
import { type AxeRules, axeFindings, chromiumForTests, heightPx } from '../support/chromium.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';

describe('the sandbox’s mailbox in a browser', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
  });
  afterAll(() => foyer?.close());

  const sendTo = async (to: string) => {
    await foyer.deps.database.transaction((trx) =>
      foyer.deps.outbox.add(trx, { ...sampleMail('verify-email', 'en'), to }),
    );
    await foyer.mails(to);
  };

  it.each([true, false])(
    'The mailbox shows a code and its mail in a frame with an opaque origin (JavaScript: %s)',
    async (javaScript) => {
      const to = `${javaScript}@example.com`;
      const page = await newPage({ javaScript });
      if (javaScript) await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.goto(foyer.url);
      await page.getByRole('link', { name: 'Open the mailbox' }).click();
      await page.getByRole('heading', { level: 1, name: 'Mailbox' }).waitFor();
      await sendTo(to);
      await page.getByRole('link', { name: 'Look again' }).click();
      await page.getByLabel('Recipient').fill(to);
      await page.getByRole('button', { name: 'Show' }).click();
      await page.getByText('493027', { exact: true }).waitFor();
      const copy = page.getByRole('button', { name: 'Copy' });
      expect(await copy.isVisible()).toBe(javaScript);
      if (javaScript) {
        await copy.click();
        await page.getByRole('button', { name: 'Copied' }).waitFor();
        expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('493027');
      }
      await page.getByRole('link', { name: /^\d{6} is your Foyer code/ }).click();
      await page.getByRole('heading', { level: 1, name: /^\d{6} is your Foyer code/ }).waitFor();
      const mail = page.frameLocator('iframe');
      await mail.getByRole('heading', { name: 'Confirm your email address' }).waitFor();
      await mail.getByText('493027', { exact: true }).waitFor();
      // The frame has an opaque origin, so it reads nothing of Foyer.
      const [, frame] = page.frames();
      expect(await frame?.evaluate(() => self.origin)).toBe('null');
    },
  );

  it('The links of a mail open in a new tab', async () => {
    const page = await newPage();
    await page.goto(`${foyer.url}/sandbox/mails#welcome`);
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      page
        .locator('iframe[src^="/sandbox/mails/welcome"]')
        .contentFrame()
        .getByRole('link', { name: 'Open Foyer' })
        .click(),
    ]);
    await tab.getByRole('heading', { level: 1 }).waitFor();
    expect(new URL(tab.url()).origin).toBe(foyer.url);
    expect(await tab.evaluate(() => self.origin)).toBe(foyer.url);
  });

  describe('each mail', () => {
    // They are texts that run nothing: one page shows them all, and axe is quick where it has run before.
    const mails = chromiumForTests({ pagesStay: true });
    let page: Page;
    beforeAll(async () => {
      page = await mails.newPage();
    });

    it.each(mailTemplates)(
      'The mail %s fits from 320 px in every language, and axe finds no problem in light and dark colours',
      async (template) => {
        const findings: string[] = [];
        for (const lang of languages) {
          await page.emulateMedia({ colorScheme: 'light' });
          const { html } = renderMail(sampleMail(template, lang), { publicUrl: foyer.url, brandName: 'Foyer' });
          await page.setContent(html);
          for (const width of [320, 375, 1366]) {
            await page.setViewportSize({ width, height: heightPx });
            const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
            if (beyond > 0) findings.push(`${lang} ${width}: ${beyond} px too wide`);
          }
          // No name, role or colour changes with the language.
          if (lang !== 'en') continue;
          const looks: ['light' | 'dark', AxeRules][] = [
            ['light', 'all'],
            ['dark', 'colours'],
          ];
          for (const [colorScheme, rules] of looks) {
            await page.emulateMedia({ colorScheme });
            const violations = await axeFindings(page, rules);
            // A mail's landmarks are its reader's.
            findings.push(
              ...violations
                .filter((violation) => !/^(landmark-one-main|region) /.test(violation))
                .map((violation) => `${lang} ${colorScheme}: ${violation}`),
            );
          }
        }
        expect(findings).toEqual([]);
      },
    );
  });
});
