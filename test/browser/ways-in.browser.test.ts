import { decodeJwt } from 'jose';
import * as oidc from 'openid-client';
import type { Page } from 'playwright-core';
import { translator } from '../../sandbox/texts.ts';
import type { User } from '../../server/users/index.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { oauthApp } from '../support/oauth-app.ts';
import { relyingParty, signInFor } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';
import { type ClientHome, homeAddress, openClientHome } from './client-home.ts';
import { signedInAtFoyer } from './short-ways.ts';
import { goOnAs, submitSignIn } from './steps.ts';

/** In Chromium, with and without scripts, each ending at the client app with tokens that its library has checked. */
describe('sign-ins to a client in a browser', () => {
  const { newPage } = chromiumForTests({ pagesStay: true });
  let foyer: TestFoyer;
  let home: ClientHome;
  let user: User;
  beforeAll(async () => {
    [foyer, home] = [await startFoyer(anyBackend), await openClientHome()];
    user = await foyer.addUser();
  });
  afterAll(async () => {
    await home?.close();
    await foyer?.close();
  });

  describe.each([{ javaScript: true }, { javaScript: false }])('JavaScript $javaScript', ({ javaScript }) => {
    // One profile for all of them: a new one reads every stylesheet and font again.
    let page: Page;
    beforeAll(async () => {
      page = await newPage({ javaScript });
    });
    beforeEach(() => page.context().clearCookies());

    const signIn = async ({ email }: User, t = translator('en')) => {
      await submitSignIn(page, { email, password }, t);
      if (!javaScript) await page.getByRole('button', { name: t('oauth.verify.continue') }).click();
    };

    it('A code sign-in with oauth4webapi works after a change of language, and the back button gives a new code', async () => {
      const callback = `${home.origin}/callback`;
      const app = await oauthApp(foyer, await foyer.addClient({ public: true, redirectUris: [callback] }));
      const begun = await app.begin();
      await page.goto(begun.url);
      const { origin, pathname, searchParams } = new URL(page.url());
      expect([origin, pathname]).toEqual([foyer.url, '/']);
      expect(Object.fromEntries(searchParams)).toEqual({
        client_id: app.client.client_id,
        redirect_uri: callback,
        authorization_code: expect.stringMatching(/^[\w-]{20,}$/),
        state: begun.state,
      });
      await page.getByRole('button', { name: 'Deutsch' }).click();
      await signIn(user, translator('de'));
      const callbacks = [await homeAddress(page)];
      const { accessToken, claims } = await app.redeem(callbacks[0] ?? '', begun);
      expect(claims.sub).toBe(user.id);
      expect((await app.userInfo(accessToken, user.id)).email).toBe(user.email);

      // The back button is no dead end at any page that it leads to: the form, and without scripts the page behind it.
      const pages = javaScript ? 1 : 2;
      for (let back = 0; back < pages; back += 1) {
        await page.goBack({ waitUntil: 'commit' });
        callbacks.push(await homeAddress(page));
        expect((await app.redeem(callbacks.at(-1) ?? '', begun)).claims.sub).toBe(user.id);
      }
      expect(new Set(callbacks).size).toBe(1 + pages);
    });

    it('An older client without scope and nonce signs another user in with forceAuth and openid-client', async () => {
      const callback = `${home.origin}/older`;
      const registered = { legacy: true, redirectUris: [callback] };
      const [byCode, byToken] = [
        await relyingParty(foyer, await foyer.addClient(registered)),
        await relyingParty(foyer, await foyer.addClient({ ...registered, responseTypes: ['id_token'] })),
      ];
      const verifier = oidc.randomPKCECodeVerifier();
      const challenge = {
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      };
      const asked = { response_type: 'code', client_id: byCode.id, redirect_uri: callback, ...challenge };
      const authorize = (more: Record<string, string>) =>
        `${foyer.url}/oauth2/authorize/?${new URLSearchParams({ ...asked, ...more })}`;
      const options = { pkceCodeVerifier: verifier, idTokenExpected: true };
      const redeem = async (back: string) =>
        (await oidc.authorizationCodeGrant(byCode.config, new URL(back), options)).claims();
      const browser = foyer.browser();
      expect((await redeem(await signInFor(browser, { url: authorize({}) }, user)))?.sub).toBe(user.id);
      await goOnAs(page, browser, foyer.url);

      const other = await foyer.addUser();
      await page.goto(authorize({ forceAuth: '1' }));
      await signIn(other);
      expect((await redeem(await homeAddress(page)))?.sub).toBe(other.id);

      // By now the browser is the other member's, also for an app that gets an id token in the fragment.
      oidc.useIdTokenResponseType(byToken.config);
      await page.goto(authorize({ client_id: byToken.id, response_type: 'id_token', state: 's' }));
      await page.waitForURL(`${callback}#**`);
      const back = new URL(await homeAddress(page));
      const nonce = String(decodeJwt(new URLSearchParams(back.hash.slice(1)).get('id_token') ?? '').nonce);
      const claims = await oidc.implicitAuthentication(byToken.config, back, nonce, { expectedState: 's' });
      expect(claims).toMatchObject({ sub: other.id, aud: byToken.id });
    });

    it('A client that is opened from the dashboard starts its own sign-in', async () => {
      const name = `Logbook ${javaScript}`;
      const opened = { public: true, redirectUris: [`${home.origin}/opened`], logbackUri: `${home.origin}/start` };
      const registered = await foyer.addClient({ name, ...opened });
      const relying = await relyingParty(foyer, registered);
      const begun = await relying.begin();
      const asked: (string | null)[] = [];
      home.start(async (iss) => {
        asked.push(iss);
        return begun.url;
      });
      await signedInAtFoyer(page, foyer, user);
      await page.goto(`${foyer.url}/dashboard`);
      await page.getByRole('link', { name: `Open ${name}` }).click();
      const claims = (await relying.redeem(await homeAddress(page), begun)).claims();
      expect([claims?.sub, claims?.aud, asked]).toEqual([user.id, registered.id, [foyer.url]]);
    });
  });
});
