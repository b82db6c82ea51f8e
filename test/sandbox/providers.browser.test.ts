import type { Page } from 'playwright-core';
import { samlPath } from '../../sandbox/providers/people.ts';
import { axeFindings, chromiumForTests } from '../support/chromium.ts';
import { listenOnFreePort } from '../support/foyer.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';

/** Where the browser is led back to, without a Foyer: what came is its page. */
async function startApp() {
  const { server, port } = await listenOnFreePort((req, res) => {
    let body = '';
    req.on('data', (chunk) => {
      body += chunk;
    });
    req.on('end', () => {
      res.setHeader('content-type', 'text/html');
      res.end(`<title>Back</title><p>${req.method} ${body.split('&').map((pair) => pair.split('=')[0])}</p>`);
    });
  });
  return { server, url: `http://localhost:${port}` };
}

describe('the pages of the sandbox’s providers', () => {
  const { newPage } = chromiumForTests();
  let providers: TestProviders;
  let app: Awaited<ReturnType<typeof startApp>>;
  beforeAll(async () => {
    [providers, app] = await Promise.all([startProviders(), startApp()]);
    providers.tell(app.url);
  });
  afterAll(async () => {
    app.server.close();
    app.server.closeAllConnections();
    await providers.close();
  });

  const google = () => {
    const params = {
      response_type: 'code',
      scope: 'openid email',
      state: 'st',
      redirect_uri: `${app.url}/federation/google/callback`,
      client_id: providers.environment().GOOGLE_CLIENT_ID ?? '',
    };
    return `${providers.url}/o/oauth2/v2/auth?${new URLSearchParams(params)}`;
  };
  const looksRight = async (page: Page) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeFindings(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    }
  };

  it('The provider pages look right on a phone, light and dark', async () => {
    const page = await newPage({ widthPx: 375 });
    await page.goto(google());
    for (const summary of await page.locator('summary').all()) await summary.click();
    await looksRight(page);
    await page.goto(providers.url + samlPath);
    expect(await page.title()).toContain('Acme Corporate');
    await looksRight(page);
  });

  it('The provider page redirects back from the chosen account, from a typed one and from Cancel', async () => {
    const page = await newPage();
    await page.goto(google());
    await page.getByRole('button', { name: 'Ada Lovelace' }).click();
    expect(new URL(page.url()).searchParams.get('code')).toMatch(/^4\//);
    await page.goto(google());
    await page.getByText('Use another account').click();
    await page.getByLabel('Name').fill('Mary Somerville');
    await page.getByLabel('Email (empty: none is given)').fill('mary@example.com');
    // The Enter key chooses the typed account, not the first of the list.
    const sent = page.waitForRequest((request) => request.method() === 'POST');
    await page.keyboard.press('Enter');
    expect((await sent).postData()).not.toContain('person=');
    await page.waitForURL(`${app.url}/**`);
    expect(new URL(page.url()).searchParams.get('code')).toMatch(/^4\//);
    await page.goto(google());
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied');
  });

  it.each([true, false])('The provider page posts a SAML response with JavaScript %s', async (javaScript) => {
    const page = await newPage({ javaScript });
    await page.goto(`${providers.url}/acme-saml`);
    await page.getByRole('button', { name: 'Open the app' }).click();
    await page.getByRole('button', { name: 'Ada Lovelace' }).click();
    if (!javaScript) await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL(`${app.url}/federation/acme-saml/acs`);
    expect(await page.textContent('p')).toBe('POST SAMLResponse');
  });
});
