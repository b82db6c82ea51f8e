import type { Page } from 'playwright-core';
import { askedWithoutPages, expectSignedOut, signedInAtApp } from '../browser/short-ways.ts';
import { submitSignIn, withoutPages } from '../browser/steps.ts';
import { locationOf } from '../support/browser.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { cliOf } from '../support/cli.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { signInFor } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';
import { type Example, freePort, startExample } from './example-process.ts';

describe('the Express example', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  let foyer: TestFoyer;
  let example: Example;
  let url: string;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
    url = `http://127.0.0.1:${await freePort()}`;
    const { id, secret } = await foyer.addClient({
      id: 'express-example',
      redirectUris: [`${url}/callback`],
      logoutUris: [`${url}/`],
    });
    example = await startExample('express-app/app.mjs', {
      ISSUER: foyer.url,
      APP_URL: url,
      CLIENT_ID: id,
      CLIENT_SECRET: secret ?? '',
    });
  });
  afterAll(async () => {
    await example?.stop();
    await foyer?.close();
  });

  async function signIn(page: Page, email: string): Promise<void> {
    await page.goto(url);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await submitSignIn(page, { email, password });
    await page.getByRole('heading', { name: 'Hello, Ida Moreau' }).waitFor();
  }
  const claim = (page: Page, list: string, name: string) =>
    page.getByRole('table', { name: list }).getByRole('row', { name }).getByRole('cell').first().textContent();

  it('The example signs in, shows the claims, refreshes and signs out of both', async () => {
    const user = await foyer.addUser({ givenName: 'Ida', familyName: 'Moreau' });
    const page = await newPage();
    await signIn(page, user.email ?? '');
    expect(page.url()).toBe(`${url}/`);
    expect(await claim(page, 'Claims of the id token', 'aud')).toBe('express-example');
    expect(await claim(page, 'What userInfo says now', 'email')).toBe(user.email);

    const expiry = (await page.getByText('The access token is good until').textContent()) ?? '';
    await page.getByRole('button', { name: 'Refresh tokens' }).click();
    await page.getByText(expiry).waitFor({ state: 'detached' });
    await page.getByText('The access token is good until').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await claim(page, 'What userInfo says now', 'email')).toBe(user.email);

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('No one is signed in.').waitFor();
    expect(page.url()).toBe(`${url}/`);
    expect(await page.getByRole('link', { name: 'Sign in' }).getAttribute('href')).toBe('/sign-in');
    await expectSignedOut(page, foyer.url);
    const { origin, pathname } = new URL(await askedWithoutPages(page, url));
    expect(origin + pathname).toBe(`${foyer.url}/`);
  });

  it('Attack: the example refuses a sign-in that was started in another browser', async () => {
    const attacker = await foyer.addUser();
    const begun = locationOf(await fetch(`${url}/sign-in`, { redirect: 'manual' }));
    const callback = await signInFor(foyer.browser(), { url: begun }, attacker);
    const victim = await newPage();
    await victim.goto(callback);
    expect(await victim.getByRole('alert').textContent()).toBe('no such sign-in has begun in this browser');
    const home = await (await withoutPages(victim, url)).get(url);
    expect(await home.text()).toContain('No one is signed in.');
  });

  it('A user whose grant was revoked is sent to the sign-in again', async () => {
    const user = await foyer.addUser({ givenName: 'Ida', familyName: 'Moreau' });
    const page = await newPage();
    await signedInAtApp(page, url, user);
    await page.goto(url);
    await page.getByRole('heading', { name: 'Hello, Ida Moreau' }).waitFor();
    await page.context().clearCookies({ domain: 'localhost' });
    const ended = await cliOf(foyer)('user', 'disable', user.email ?? '');
    expect(ended.code).toBe(0);
    await page.reload();
    await page.getByRole('alert').filter({ hasText: 'userInfo says' }).waitFor();
    await page.getByRole('button', { name: 'Refresh tokens' }).click();
    await page.getByLabel('Password', { exact: true }).waitFor();
  });
});
