import { chromiumForTests } from '../support/chromium.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { anyBackend } from '../support/stores.ts';
import { choose, passOn, pressDoor, somebody } from './federation-steps.ts';

/** Whether a browser lets the page post itself to another site is the browser's own matter: policy, nonce and form. */
describe('a SAML request by form in Chromium', () => {
  const { newPage } = chromiumForTests();
  let providers: TestProviders;
  let foyer: TestFoyer;
  beforeAll(async () => {
    providers = await startProviders();
    const byForm = providers.environment((file) => {
      Object.assign(file.providers[1] ?? {}, { requestBinding: 'post', signRequests: true });
      return file;
    });
    foyer = await startFoyer(anyBackend, byForm);
    providers.tell(foyer.url);
  });
  afterAll(async () => {
    await foyer?.close();
    await providers?.close();
  });

  it.each([{ javaScript: true }, { javaScript: false }])(
    'A new user signs up by a provider that takes requests by form (JavaScript $javaScript)',
    async ({ javaScript }) => {
      const page = await newPage({ javaScript });
      await page.goto(foyer.url);
      await pressDoor(page, 'saml');
      if (!javaScript) {
        await page.waitForURL(/\/federation\/acme-saml\/request\?attempt=/);
        await page.getByRole('button', { name: 'Continue', exact: true }).click();
      }
      await choose(page, somebody('saml'));
      if (!javaScript) await passOn(page);
      await page.waitForURL((url) => url.origin === foyer.url && !url.pathname.startsWith('/federation/'));
      expect(await page.locator('.notice.error').count()).toBe(0);
    },
  );
});
