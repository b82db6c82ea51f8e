import type { Page } from 'playwright-core';
import { demoMember } from '../../sandbox/index.ts';
import { translator } from '../../sandbox/texts.ts';
import type { Language } from '../../server/http/index.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { toPlanId } from '../support/ids.ts';
import { anyBackend, secondBackends } from '../support/stores.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { askedToSignIn, askedWithoutPages, signedInAtApp } from './short-ways.ts';
import {
  addressesOf,
  andLoad,
  askToSignIn,
  atHome,
  browserLocale,
  listed,
  nobodyAtHome,
  submitSignIn,
  withoutPages,
} from './steps.ts';

const name = `${demoMember.givenName} ${demoMember.familyName}`;

interface Way {
  lang: Language;
  javaScript: boolean;
}

/** In, with tokens; new tokens; out at both. The way from the app's start page to the form is at pages in one language. */
async function journey(page: Page, { demoUrl, foyer }: Sandbox, { lang, javaScript }: Way): Promise<void> {
  const t = translator(lang);
  const addresses = addressesOf(page);
  if (lang === 'en') await askToSignIn(page, demoUrl, t);
  else await askedToSignIn(page, demoUrl);
  expect(await page.locator('html').getAttribute('lang')).toBe(lang);
  expect(await page.getByText(t('signIn.continueTo', { clientName: 'Demo app' })).count()).toBe(1);
  await submitSignIn(page, demoMember, t);
  if (!javaScript) {
    await page.getByRole('heading', { name: t('oauth.verify.title') }).waitFor();
    await page.getByRole('button', { name: t('oauth.verify.continue') }).click();
  }
  await atHome(page, name, t);
  expect(page.url()).toBe(`${demoUrl}/`);
  expect(addresses.map(({ origin, pathname }) => origin + pathname)).toContain(`${foyer.url}/verify-user`);

  const claims = await listed(page, t('sandbox.demo.idToken'));
  expect(claims).toMatchObject({ iss: foyer.url, aud: 'demo-app', email: demoMember.email, amr: '["pwd"]' });
  const userinfo = await listed(page, t('sandbox.demo.userinfo'));
  expect(userinfo).toMatchObject({ sub: claims.sub, name, email_verified: 'true' });

  const tokens = await listed(page, t('sandbox.demo.tokens'));
  const plan = userinfo.plan === '1' ? '2' : '1';
  const { db } = foyer.deps.database;
  await db
    .updateTable('users')
    .set({ planId: toPlanId(plan) })
    .where('email', '=', demoMember.email)
    .execute();
  await andLoad(page, () => page.getByRole('button', { name: t('sandbox.demo.refresh') }).click());
  const newTokens = await listed(page, t('sandbox.demo.tokens'));
  for (const kind of [t('sandbox.demo.accessToken'), t('sandbox.demo.refreshToken')]) {
    expect(newTokens[kind]).toMatch(/\S…\S/);
    expect(newTokens[kind]).not.toBe(tokens[kind]);
  }
  // A plan that was changed meanwhile is seen at once.
  expect((await listed(page, t('sandbox.demo.userinfo'))).plan).toBe(plan);

  await page.getByRole('button', { name: t('sandbox.demo.signOut') }).click();
  await nobodyAtHome(page, t);
  expect(page.url()).toBe(`${demoUrl}/`);
  // At Foyer too: its cookie is gone, and the next sign-in asks for the password again.
  const cookies = await page.context().cookies(foyer.url);
  expect(cookies.map((cookie) => cookie.name)).not.toContain('foyer_session');
  const signIn = page.getByRole('link', { name: t('sandbox.demo.signIn', { brand: 'Foyer' }) });
  if (lang === 'en') {
    await signIn.click();
    await page.getByLabel(t('signIn.password'), { exact: true }).waitFor();
  } else {
    expect(await signIn.getAttribute('href')).toBe('/sign-in');
    const form = await askedWithoutPages(page, demoUrl);
    expect(await (await (await withoutPages(page, foyer.url)).get(form)).text()).toContain('name="password"');
  }
}

describe('the demo app', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox(anyBackend);
  });
  afterAll(() => sandbox?.close());

  const ways: Way[] = [
    { lang: 'en', javaScript: true },
    { lang: 'en', javaScript: false },
    { lang: 'de', javaScript: true },
    { lang: 'de', javaScript: false },
    { lang: 'fr', javaScript: true },
    { lang: 'nl', javaScript: false },
  ];
  it.each(ways)(
    'The demo app signs a user in, refreshes tokens and signs out: $lang, JavaScript $javaScript',
    async (way) => {
      const page = await newPage({ locale: browserLocale[way.lang], javaScript: way.javaScript });
      await journey(page, sandbox, way);
    },
  );

  it('A user who is signed in is not asked for the password a second time', async () => {
    const page = await newPage();
    await signedInAtApp(page, sandbox.demoUrl, demoMember, demoMember.password);
    // The app forgets; Foyer remembers.
    await page.context().clearCookies({ domain: '127.0.0.1' });
    const addresses = addressesOf(page);
    await page.goto(sandbox.demoUrl);
    await nobodyAtHome(page);
    await page.getByRole('link', { name: 'Sign in with Foyer' }).click();
    await atHome(page, name);
    expect(addresses.filter(({ origin }) => origin === sandbox.foyer.url)).toEqual([]);
  });

  it('Two apps in two tabs of a fresh browser both sign the user in', async () => {
    const otherUrl = await sandbox.addApp({ id: 'orchard', name: 'Orchard' });
    const first = await newPage();
    const second = await first.context().newPage();
    await askToSignIn(first, sandbox.demoUrl);
    await askToSignIn(second, otherUrl);
    expect(await second.getByText('Sign in to continue to Orchard.').count()).toBe(1);
    await submitSignIn(first);
    await atHome(first, name);
    await submitSignIn(second);
    await atHome(second, name);
    expect([first.url(), second.url()]).toEqual([`${sandbox.demoUrl}/`, `${otherUrl}/`]);
    expect(await listed(second, 'Claims of the ID token')).toMatchObject({ aud: 'orchard' });
    // Neither sign-in has undone the other's tokens.
    await andLoad(first, () => first.getByRole('button', { name: 'Refresh tokens' }).click());
    await atHome(first, name);
    await andLoad(second, () => second.getByRole('button', { name: 'Refresh tokens' }).click());
    await atHome(second, name);
  });
});

// What the stores do is shown by requests; one whole journey stands on each pair of them.
for (const backend of secondBackends) {
  describe(`the demo app, on ${backend.name}`, () => {
    const { newPage } = chromiumForTests({ profilesStay: true });
    let sandbox: Sandbox;
    beforeAll(async () => {
      sandbox = await startSandbox(backend);
    });
    afterAll(() => sandbox?.close());

    it('The demo app signs a user in, refreshes tokens and signs out', async () => {
      await journey(await newPage({ locale: browserLocale.de }), sandbox, { lang: 'de', javaScript: true });
    });
  });
}
