import { translator } from '../../sandbox/texts.ts';
import { wordsOf } from '../billing/checkout/shop.ts';
import { locationOf } from '../support/browser.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { listenOnFreePort, password } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { askedToSignIn, askedWithoutPages, signedInAtFoyer } from './short-ways.ts';
import { atHome, listed, submitSignIn, withoutPages } from './steps.ts';

describe('pages between a sign-in and a client', () => {
  const { newPage, takeFaults } = chromiumForTests({ profilesStay: true });
  let sandbox: Sandbox;
  let thirdPartyUrl: string;
  beforeAll(async () => {
    sandbox = await startSandbox(anyBackend);
    thirdPartyUrl = await sandbox.addApp({ id: 'orchard', name: 'Orchard', thirdParty: true });
  });
  afterAll(() => sandbox?.close());

  it.each([{ javaScript: true }, { javaScript: false }])(
    'A third-party client needs consent once, which is remembered (JavaScript $javaScript)',
    async ({ javaScript }) => {
      const { email } = await sandbox.foyer.addUser({ givenName: 'Ida', familyName: 'Moreau' });
      const page = await newPage({ javaScript });
      await askedToSignIn(page, thirdPartyUrl);
      await submitSignIn(page, { email, password });
      if (!javaScript) await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('heading', { name: 'Allow Orchard to use your account?' }).waitFor();
      expect(await page.getByText(`Signed in as ${email}`).count()).toBe(1);
      expect(await page.getByText(new URL(thirdPartyUrl).host).count()).toBeGreaterThan(0);
      await page.getByRole('button', { name: 'Allow' }).click();
      await atHome(page, 'Ida Moreau');
      expect(await listed(page, 'Claims of the ID token')).toMatchObject({ aud: 'orchard' });
      expect(await listed(page, 'Answer from the userinfo endpoint')).toMatchObject({ email });

      // Nothing is asked on the way: it is redirects from the app to Foyer and back.
      await page.context().clearCookies({ domain: '127.0.0.1' });
      const callback = await askedWithoutPages(page, thirdPartyUrl);
      expect(callback).toContain(`${thirdPartyUrl}/callback?code=`);
      await page.goto(callback);
      await atHome(page, 'Ida Moreau');
    },
  );

  it('A user who cancels the consent returns to the client with access_denied and without a code', async () => {
    const { email } = await sandbox.foyer.addUser();
    const page = await newPage();
    await askedToSignIn(page, thirdPartyUrl);
    await submitSignIn(page, { email, password });
    await page.getByRole('heading', { name: 'Allow Orchard to use your account?' }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.locator('p').allTextContents()).toEqual([
      'The sign-in wasn’t completed',
      'access_denied: the End-User did not allow it',
    ]);
    const address = new URL(page.url());
    expect(address.origin).toBe(thirdPartyUrl);
    expect(address.searchParams.get('error')).toBe('access_denied');
    expect(address.searchParams.has('code')).toBe(false);
  });

  // What was accepted before is no matter of scripts: oauth/terms asks for either.
  it.each([
    { javaScript: true, lang: 'en', accepted: null },
    { javaScript: false, lang: 'de', accepted: 0 },
  ] as const)(
    'A user with accepted terms $accepted must accept the current ones before the client ($lang, JavaScript $javaScript)',
    async ({ javaScript, lang, accepted }) => {
      const t = translator(lang);
      const { email } = await sandbox.foyer.addUser({
        givenName: 'Ida',
        familyName: 'Moreau',
        acceptedTosVersion: accepted,
      });
      const page = await newPage({ javaScript, locale: lang });
      await askedToSignIn(page, sandbox.demoUrl);
      await submitSignIn(page, { email, password }, t);
      await page.getByRole('heading', { name: t('common.footer.terms'), level: 1 }).waitFor();
      await page.getByRole('button', { name: t('terms.decline') }).click();
      await page.getByText(t('terms.TERMS_OF_SERVICE_MESSAGE_DECLINE')).waitFor();
      expect(new URL(page.url()).pathname).toBe('/tos');

      // Declining leads past them nowhere: the app gets no code while they are open.
      const start = await askedWithoutPages(page, sandbox.demoUrl);
      const other = await withoutPages(page, sandbox.foyer.url);
      const next = locationOf(await other.get(start));
      expect(new URL(next).pathname).toBe('/tos');
      const terms = await other.get(next, { headers: { 'accept-language': lang } });
      expect(wordsOf(await terms.text())).toContain(t('common.footer.terms'));

      await page.getByRole('button', { name: t('terms.accept') }).click();
      if (!javaScript) await page.getByRole('button', { name: t('oauth.verify.continue') }).click();
      await atHome(page, 'Ida Moreau', t);
    },
  );

  it('A client that requests a switch of account gets the form, and another user signs in to it', async () => {
    const [first, second] = [await sandbox.foyer.addUser(), await sandbox.foyer.addUser({ givenName: 'Grace' })];
    const page = await newPage();
    await signedInAtFoyer(page, sandbox.foyer, first);
    // What the app would ask for a sign-in with, it asks for a sign-out with.
    const asked = await page.context().request.get(`${sandbox.demoUrl}/sign-in`, { maxRedirects: 0 });
    const { search } = new URL(asked.headers().location ?? '');
    await page.goto(`${sandbox.foyer.url}/logout${search}`);
    await page.getByText('After that you can sign in to Demo app with another account.').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await submitSignIn(page, { email: second.email, password });
    await atHome(page, `Grace ${second.familyName}`);
  });

  it('Attack: a page of a sibling origin signs no one out by anything that it loads or sends', async () => {
    const page = await newPage();
    await signedInAtFoyer(page, sandbox.foyer, await sandbox.foyer.addUser());
    const out = `${sandbox.foyer.url}/logout`;
    const { server, port } = await listenOnFreePort((_req, res) => {
      res.setHeader('content-type', 'text/html');
      res.end(`<title>Sibling</title><link rel="prefetch" href="${out}"><link rel="stylesheet" href="${out}">
        <img src="${out}"><iframe src="${out}"></iframe><iframe name="hidden"></iframe><object data="${out}"></object>
        <form method="post" action="${out}" target="hidden"></form>
        <script src="${out}"></script><script>
          document.forms[0].submit();
          const ways = [{ method: 'GET' }, { method: 'POST' }].map((way) =>
            fetch('${out}', { ...way, mode: 'no-cors', credentials: 'include' }));
          Promise.allSettled(ways).then(() => { document.title = 'Sent'; });
        </script>`);
    });
    const arrived = () =>
      sandbox.foyer
        .logged()
        .split('\n')
        .filter((line) => line.includes('"/logout"')).length;
    const before = arrived();
    // Another port of this host is another origin of the same site: cookies travel.
    await page.goto(`http://localhost:${port}/`);
    await page.waitForFunction(() => document.title === 'Sent');
    await page.waitForLoadState('networkidle');
    server.closeAllConnections();
    server.close();
    expect(arrived() - before).toBeGreaterThan(5);
    // Nor may that page see or frame what is answered.
    expect(takeFaults().filter((fault) => !/ERR_BLOCKED_BY_RESPONSE|frame-ancestors/.test(fault))).toEqual([]);
    await page.goto(`${sandbox.foyer.url}/settings`);
    expect(new URL(page.url()).pathname).toBe('/settings');
  });

  it('A logout link without a referrer asks first and signs out at the button', async () => {
    const page = await newPage();
    await signedInAtFoyer(page, sandbox.foyer, await sandbox.foyer.addUser());
    const address = new URL('/logout', sandbox.foyer.url);
    address.search = new URLSearchParams({ client_id: 'demo-app', logout_uri: `${sandbox.demoUrl}/` }).toString();
    await page.goto(address.href);
    await page.getByRole('heading', { name: 'Sign out?' }).waitFor();
    expect(await page.getByText('Demo app would like to sign you out.').count()).toBe(1);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'An app that trusts Foyer' }).waitFor();
    await page.goto(sandbox.foyer.url);
    await page.getByLabel('Email or phone').waitFor();
  });
});
