import { askedWithoutPages, expectSignedOut } from '../browser/short-ways.ts';
import { submitSignIn } from '../browser/steps.ts';
import { locationOf } from '../support/browser.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { signInFor } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';
import { type Example, freePort, startExample } from './example-process.ts';

describe('the Passport example', () => {
  const { newPage } = chromiumForTests();
  let foyer: TestFoyer;
  let example: Example;
  let url: string;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
    url = `http://127.0.0.1:${await freePort()}`;
    const registration = { redirectUris: [`${url}/callback`], logoutUris: [`${url}/`] };
    const { id, secret } = await foyer.addClient({ id: 'passport-example', ...registration });
    const variables = { ISSUER: foyer.url, APP_URL: url, CLIENT_ID: id, CLIENT_SECRET: secret ?? '' };
    example = await startExample('passport-app/app.mjs', variables);
  });
  afterAll(async () => {
    await example?.stop();
    await foyer?.close();
  });

  it('The example signs in and signs out of both', async () => {
    const user = await foyer.addUser({ givenName: 'Ida', familyName: 'Moreau' });
    const page = await newPage();
    await page.goto(url);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await submitSignIn(page, { email: user.email ?? '', password });
    await page.getByRole('heading', { name: 'Hello, Ida Moreau' }).waitFor();
    expect(await page.getByText(user.email ?? '').count()).toBe(1);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('No one is signed in.').waitFor();
    expect(page.url()).toBe(`${url}/`);
    expect(await page.getByRole('link', { name: 'Sign in' }).getAttribute('href')).toBe('/sign-in');
    await expectSignedOut(page, foyer.url);
    const { origin, pathname } = new URL(await askedWithoutPages(page, url));
    expect(origin + pathname).toBe(`${foyer.url}/`);
  });

  it('The example uses PKCE, state and nonce and refuses an answer to another browser’s sign-in', async () => {
    const begun = locationOf(await fetch(`${url}/sign-in`, { redirect: 'manual' }));
    const asked = Object.fromEntries(new URL(begun).searchParams);
    expect(asked).toMatchObject({
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/./),
      nonce: expect.stringMatching(/./),
    });
    const callback = await signInFor(foyer.browser(), { url: begun }, await foyer.addUser());
    const stranger = await fetch(callback, { redirect: 'manual' });
    expect(stranger.status).toBe(400);
    expect(await stranger.text()).toContain('That did not work');
  });
});
