import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as oauth from 'oauth4webapi';
import * as oidc from 'openid-client';
import type { Page } from 'playwright-core';
import { type PassportApp, startPassportApp, type Told } from '../examples/passport-openidconnect-app.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { device } from '../support/devices.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';
import { askedToSignIn, askedWithoutPages, expectSignedOut, openForm } from './short-ways.ts';
import { submitSignIn } from './steps.ts';

/** The ways in that neither the examples nor the demo app go, in Chromium, by the libraries that client apps use. */
describe('client apps’ libraries in a browser', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  const ways = [{ javaScript: true }, { javaScript: false }];
  const insecure = { [oauth.allowInsecureRequests]: true };
  let foyer: TestFoyer;
  let app: Server;
  let home: string;
  let passport: PassportApp;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
    passport = await startPassportApp(foyer);
    app = createServer((_req, res) => void res.end('<!doctype html><link rel="icon" href="data:,"><h1>home</h1>'));
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
    home = `http://127.0.0.1:${(app.address() as AddressInfo).port}/home`;
  });
  afterAll(async () => {
    app?.close();
    await passport?.close();
    await foyer?.close();
  });

  async function signIn(page: Page, email: string, javaScript: boolean): Promise<void> {
    await submitSignIn(page, { email, password });
    if (!javaScript) await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'home' }).waitFor();
  }

  it.each(ways)(
    'The library openid-client gets an id token in the fragment (JavaScript $javaScript)',
    async ({ javaScript }) => {
      const user = await foyer.addUser();
      const registered = await foyer.addClient({ responseTypes: ['id_token'], redirectUris: [home] });
      const client = await relyingParty(foyer, registered);
      oidc.useIdTokenResponseType(client.config);
      const begun = await client.begin();
      const page = await newPage({ javaScript });
      await openForm(page, begun.url);
      await signIn(page, user.email, javaScript);
      const claims = await oidc.implicitAuthentication(client.config, new URL(page.url()), begun.nonce, {
        expectedState: begun.state,
      });
      expect(claims.sub).toBe(user.id);
    },
  );

  it.each(ways)(
    'The library oauth4webapi pushes a request, gets DPoP-bound tokens and signs out (JavaScript $javaScript)',
    async ({ javaScript }) => {
      const user = await foyer.addUser();
      const { id } = await foyer.addClient({ public: true, redirectUris: [home], logoutUris: [home] });
      const issuer = new URL(foyer.url);
      const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
      const client: oauth.Client = { client_id: id };
      const DPoP = oauth.DPoP(client, await oauth.generateKeyPair('ES256'));
      const options = { DPoP, ...insecure };
      const verifier = oauth.generateRandomCodeVerifier();
      const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()];
      const asked = {
        redirect_uri: home,
        response_type: 'code',
        scope: 'openid email',
        state,
        nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      };
      /** As the library's own examples do it: the first refusal brings the nonce that the second try sends. */
      const twice = <T>(act: () => Promise<T>) =>
        act().catch((error: unknown) => (oauth.isDPoPNonceError(error) ? act() : Promise.reject(error)));
      const { request_uri: requestUri } = await twice(async () =>
        oauth.processPushedAuthorizationResponse(
          ...([as, client, await oauth.pushedAuthorizationRequest(as, client, oauth.None(), asked, options)] as const),
        ),
      );
      const page = await newPage({ javaScript });
      await page.goto(
        `${as.authorization_endpoint}?${new URLSearchParams({ client_id: id, request_uri: requestUri })}`,
      );
      await signIn(page, user.email, javaScript);

      const parameters = oauth.validateAuthResponse(as, client, new URL(page.url()), state);
      const tokens = await twice(async () =>
        oauth.processAuthorizationCodeResponse(
          as,
          client,
          await oauth.authorizationCodeGrantRequest(as, client, oauth.None(), parameters, home, verifier, options),
          { expectedNonce: nonce },
        ),
      );
      expect([tokens.token_type, oauth.getValidatedIdTokenClaims(tokens)?.sub]).toEqual(['dpop', user.id]);
      const userInfo = await oauth.userInfoRequest(as, client, tokens.access_token, options);
      expect((await oauth.processUserInfoResponse(as, client, user.id, userInfo)).email).toBe(user.email);

      const out = { id_token_hint: tokens.id_token ?? '', post_logout_redirect_uri: home, state: 'out' };
      await page.goto(`${as.end_session_endpoint}?${new URLSearchParams(out)}`);
      await page.getByRole('heading', { name: 'home' }).waitFor();
      expect(page.url()).toBe(`${home}?state=out`);
      await expectSignedOut(page, foyer.url);
    },
  );

  it.each(ways)(
    'The library passport-openidconnect signs in by a code and signs out of both (JavaScript $javaScript)',
    async ({ javaScript }) => {
      const user = await foyer.addUser({ givenName: 'Ida', familyName: 'Moreau' });
      const page = await newPage({ javaScript });
      await askedToSignIn(page, passport.url);
      await submitSignIn(page, { email: user.email, password });
      if (!javaScript) await page.getByRole('button', { name: 'Continue' }).click();
      await page.waitForURL(`${passport.url}/callback?**`);
      const { profile } = JSON.parse((await page.locator('pre').textContent()) ?? '') as Told;
      expect(profile).toMatchObject({ id: user.id, displayName: 'Ida Moreau' });
      await page.goto(`${passport.url}/sign-out`);
      await page.getByRole('heading', { name: 'home' }).waitFor();
      expect(page.url()).toBe(`${passport.url}/`);
      await expectSignedOut(page, foyer.url);
      expect(new URL(await askedWithoutPages(page, passport.url)).pathname).toBe('/');
    },
  );

  it.each(ways)(
    'A device is connected when the user enters the code, agrees and signs in (JavaScript $javaScript)',
    async ({ javaScript }) => {
      const user = await foyer.addUser();
      const radio = await device(foyer);
      const asked = await radio.ask();
      const page = await newPage({ javaScript });
      await page.goto(asked.verification_uri);
      await page.getByLabel('Code').fill(asked.user_code.toLowerCase().replace('-', ''));
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('heading', { name: 'Sign in to Harbour Radio on your device?' }).waitFor();
      expect(await page.getByText(asked.user_code, { exact: true }).count()).toBe(1);
      await page.getByRole('button', { name: 'Yes, sign in' }).click();
      await submitSignIn(page, { email: user.email, password });
      if (!javaScript) await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('heading', { name: 'Your device is signed in' }).waitFor();
      const tokens = await oidc.pollDeviceAuthorizationGrant(radio.config, { ...asked, interval: 0.01 });
      expect(tokens.claims()?.sub).toBe(user.id);
    },
  );
});
