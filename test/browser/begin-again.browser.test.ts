import type { IncomingMessage, Server } from 'node:http';
import { decodeJwt } from 'jose';
import * as oidc from 'openid-client';
import type { Page } from 'playwright-core';
import { demoMember } from '../../sandbox/index.ts';
import { locationOf } from '../support/browser.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { listenOnFreePort } from '../support/foyer.ts';
import { homeFrom, relyingParty } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { askedToSignIn, askedWithoutPages, homeWithoutPages } from './short-ways.ts';
import { atHome, goOnAs, submitSignIn, withoutPages } from './steps.ts';

const hourMs = 60 * 60_000;
const bothWays = [{ javaScript: true }, { javaScript: false }];

/** In a real browser, whose policies for forms and redirects an HTTP test does not know. */
describe('expired and repeated sign-ins in a browser', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  let sandbox: Sandbox;
  let url: string;
  let member: string;
  beforeAll(async () => {
    sandbox = await startSandbox(anyBackend);
    ({ url } = sandbox.foyer);
    member = `${demoMember.givenName} ${demoMember.familyName}`;
  });
  afterAll(() => sandbox?.close());

  const goOn = async (page: Page, javaScript: boolean) => {
    if (!javaScript) await page.getByRole('button', { name: 'Continue' }).click();
  };

  it.each(bothWays)(
    'A sign-in form that stayed open too long still leads to the client (JavaScript $javaScript)',
    async ({ javaScript }) => {
      const page = await newPage({ javaScript });
      await askedToSignIn(page, sandbox.demoUrl);
      sandbox.foyer.passTime(hourMs);
      await submitSignIn(page);
      await atHome(page, member);
    },
  );

  it('A page /verify-user that stayed open too long still leads to the client', async () => {
    const page = await newPage({ javaScript: false });
    const form = await askedWithoutPages(page, sandbox.demoUrl);
    const browser = await withoutPages(page, url);
    const { email, password } = demoMember;
    const answer = await browser.post(`/sign-in${new URL(form).search}`, { username: email, password });
    await goOnAs(page, browser, url);
    await page.goto(locationOf(answer));
    await page.getByRole('button', { name: 'Continue' }).waitFor();
    sandbox.foyer.passTime(hourMs);
    await goOn(page, false);
    await atHome(page, member);
  });

  it('The back button after a sign-in leads to the client again', async () => {
    const page = await newPage();
    let form = '';
    await homeWithoutPages(page, sandbox.demoUrl, async (atFoyer, asked) => {
      form = locationOf(await atFoyer.get(asked, { from: 'cross-site' }));
      return homeFrom(atFoyer, form, demoMember, demoMember.password);
    });
    // What the history says of each browser differs; these are the pages that it may lead to.
    for (const address of [form, form.replace('/?', '/verify-user?')]) {
      await page.goto(address);
      await atHome(page, member);
    }
  });

  it('The start page with a client_id alone leads to that client', async () => {
    const page = await newPage({ javaScript: false });
    await page.goto(`${url}/?client_id=demo-app`);
    await page.getByText('Sign in to continue to Demo app').waitFor();
    await submitSignIn(page);
    await atHome(page, member);
  });

  describe('id token in the query', () => {
    let server: Server;
    let origin: string;
    let seen: { url: string; referer: string | undefined }[];
    beforeAll(async () => {
      const { server: listening, port } = await listenOnFreePort((req: IncomingMessage, res) => {
        seen.push({ url: req.url ?? '', referer: req.headers.referer });
        res.setHeader('content-type', 'text/html').end('<h1>Welcome home</h1>');
      });
      server = listening;
      origin = `http://127.0.0.1:${port}`;
      await sandbox.foyer.addClient({
        id: 'old-app',
        redirectUris: [`${origin}/in/`],
        legacyIdTokenRedirect: true,
        public: true,
      });
    });
    beforeEach(() => {
      seen = [];
    });
    afterAll(() => {
      server.closeAllConnections();
      server.close();
    });

    it.each(bothWays)(
      'The short form ends at the client, which gets no Referer (JavaScript $javaScript)',
      async ({ javaScript }) => {
        const page = await newPage({ javaScript });
        const query = new URLSearchParams({ client_id: 'old-app', redirect_uri: `${origin}/in`, state: 'their own' });
        await page.goto(`${url}/?${query}`);
        await submitSignIn(page);
        await goOn(page, javaScript);
        await page.getByRole('heading', { name: 'Welcome home' }).waitFor();
        const [home] = seen.filter((one) => one.url.startsWith('/in/'));
        expect(home).toMatchObject({ url: expect.stringMatching(/^\/in\/\?id_token=/), referer: undefined });
        const { searchParams } = new URL(home?.url ?? '', origin);
        // The library knows the way of answering by the fragment; what it checks is the same. The nonce was Foyer's own.
        const { config } = await relyingParty({ url }, { id: 'old-app', secret: null, redirectUri: `${origin}/in/` });
        oidc.useIdTokenResponseType(config);
        const nonce = String(decodeJwt(searchParams.get('id_token') ?? '').nonce);
        const answer = new URL(`${origin}/in/#${searchParams}`);
        const claims = await oidc.implicitAuthentication(config, answer, nonce, { expectedState: 'their own' });
        expect(claims).toMatchObject({ iss: url, aud: 'old-app', email: demoMember.email });
      },
    );
  });
});
