import { submitSignIn } from '../browser/steps.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { type Example, freePort, startExample } from './example-process.ts';

describe('the browser example', () => {
  const { newPage } = chromiumForTests();
  let foyer: TestFoyer;
  let example: Example;
  let url: string;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
    const port = await freePort();
    url = `http://127.0.0.1:${port}/`;
    await foyer.addClient({ id: 'browser-example', public: true, redirectUris: [url], logoutUris: [url] });
    example = await startExample('browser-app/serve.mjs', { ISSUER: foyer.url, PORT: String(port) });
  });
  afterAll(async () => {
    await example?.stop();
    await foyer?.close();
  });

  it('The example signs in, shows the claims, forgets them on a reload and signs out of both', async () => {
    const { email } = await foyer.addUser({ givenName: 'Ida', familyName: 'Moreau' });
    const page = await newPage();
    await page.goto(url);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await submitSignIn(page, { email: email ?? '', password });
    await page.getByRole('heading', { name: 'Hello, Ida Moreau' }).waitFor();
    // The code is out of the address.
    expect(page.url()).toBe(url);
    const cell = (list: string, name: string) =>
      page.getByRole('table', { name: list }).getByRole('row', { name }).getByRole('cell').first().textContent();
    expect(await cell('Claims of the id token', 'aud')).toBe('browser-example');
    expect(await cell('What userInfo says now', 'email')).toBe(email);
    const stored = await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));
    expect(stored).toBe('[{},{}]');

    await page.reload();
    await page.getByText('No one is signed in.').waitFor();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Hello, Ida Moreau' }).waitFor();

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('No one is signed in.').waitFor();
    expect(page.url()).toBe(url);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('Password', { exact: true }).waitFor();
  });

  it.each([
    { what: 'that another browser began', stored: null, alert: 'no sign-in has begun in this tab' },
    { what: 'with another state', stored: 'another', alert: /state/ },
  ])('The example refuses an answer $what', async ({ stored, alert }) => {
    const page = await newPage();
    await page.goto(url);
    await page.getByText('No one is signed in.').waitFor();
    if (stored !== null)
      await page.evaluate((state) => {
        sessionStorage.setItem('pending', JSON.stringify({ state, nonce: 'n', verifier: 'v'.repeat(43) }));
      }, stored);
    await page.goto(`${url}?code=somebody-elses&state=theirs&iss=${encodeURIComponent(foyer.url)}`);
    const text = page.getByRole('alert').filter({ hasText: alert });
    await text.waitFor();
    expect(await page.getByText('No one is signed in.').isVisible()).toBe(true);
    expect(page.url()).toBe(url);
  });
});
