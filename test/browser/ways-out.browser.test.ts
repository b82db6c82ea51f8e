import * as oidc from 'openid-client';
import type { Page } from 'playwright-core';
import type { User } from '../../server/users/index.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type OauthApp, oauthApp } from '../support/oauth-app.ts';
import { type RelyingParty, relyingParty, type Tokens, tokensFor } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';
import { sidOf, type ToldApp, toldApp } from '../support/told-app.ts';
import { type ClientHome, followLink, homeAddress, openClientHome } from './client-home.ts';
import { expectSignedOut, signedInAtFoyer } from './short-ways.ts';
import { goOnAs, submitSignIn, withoutPages } from './steps.ts';

/** Every way out, in Chromium, with and without scripts; whoever is to come in behind it does so to the client app. */
describe('sign-outs of a client in a browser', () => {
  const { newPage } = chromiumForTests({ pagesStay: true });
  let foyer: TestFoyer;
  let home: ClientHome;
  let told: ToldApp;
  let relying: RelyingParty;
  let web: OauthApp;
  let bye: string;
  let callback: string;
  let user: User;
  beforeAll(async () => {
    [foyer, home] = [await startFoyer(anyBackend), await openClientHome()];
    [bye, callback] = [`${home.origin}/bye`, `${home.origin}/callback`];
    const registered = { redirectUris: [callback], logoutUris: [bye] };
    told = await toldApp(foyer, { redirectUris: [`${home.origin}/told`] });
    relying = await relyingParty(foyer, await foyer.addClient({ ...registered, responseTypes: ['code', 'id_token'] }));
    web = await oauthApp(foyer, await foyer.addClient({ ...registered, public: true, idTokenClaims: true }));
    user = await foyer.addUser();
  });
  afterAll(async () => {
    await told?.close();
    await home?.close();
    await foyer?.close();
  });

  describe.each([{ javaScript: true }, { javaScript: false }])('JavaScript $javaScript', ({ javaScript }) => {
    // One profile for all of them: a new one reads every stylesheet and font again.
    let page: Page;
    beforeAll(async () => {
      page = await newPage({ javaScript });
    });
    beforeEach(() => enter());

    /** The member is signed in at Foyer. */
    async function enter(): Promise<void> {
      await page.context().clearCookies();
      await signedInAtFoyer(page, foyer, user);
    }
    /** An app gets its tokens by redirects alone, which no page is needed for. */
    async function tokensOf(client: RelyingParty): Promise<Tokens> {
      const browser = await withoutPages(page, foyer.url);
      const tokens = await tokensFor(client, browser, user);
      await goOnAs(page, browser, foyer.url);
      return tokens;
    }

    const logout = (parameters: Record<string, string>) => `${foyer.url}/logout?${new URLSearchParams(parameters)}`;
    const signIn = async ({ email }: User) => {
      await submitSignIn(page, { email, password });
      if (!javaScript) await page.getByRole('button', { name: 'Continue' }).click();
    };
    const button = () => page.getByRole('button', { name: 'Sign out', exact: true }).click();
    /** Nobody is signed in here any more. */
    const expectOut = () => expectSignedOut(page, foyer.url);

    it('A link on the client’s page signs out at once, returns, and sends a second client its logout token', async () => {
      const sid = sidOf(await tokensOf(told.client));
      await followLink(page, home, logout({ client_id: relying.id, logout_uri: bye, state: 's' }));
      expect(await homeAddress(page)).toBe(`${bye}?state=s`);
      expect(await told.heard()).toEqual([sid]);
      await expectOut();
    });

    it('RP-Initiated Logout with the id token signs out at once and sends a second client its logout token', async () => {
      const sid = sidOf(await tokensOf(told.client));
      const tokens = await tokensOf(relying);
      const asked = { post_logout_redirect_uri: bye, state: 's', id_token_hint: tokens.id_token ?? '' };
      await page.goto(oidc.buildEndSessionUrl(relying.config, asked).href);
      expect(await homeAddress(page)).toBe(`${bye}?state=s`);
      expect(await told.heard()).toEqual([sid]);
      await expectOut();
      await expect(oidc.refreshTokenGrant(relying.config, tokens.refresh_token ?? '')).rejects.toThrow();
    });

    it('RP-Initiated Logout without the id token shows one button and returns to the client', async () => {
      const asked = { client_id: web.client.client_id, post_logout_redirect_uri: bye, state: 's' };
      await page.goto(`${web.as.end_session_endpoint}?${new URLSearchParams(asked)}`);
      await button();
      expect(await homeAddress(page)).toBe(`${bye}?state=s`);
      await expectOut();
    });

    it('A switch of account by a code with PKCE happens at once from the client’s own page (oauth4webapi)', async () => {
      const [begun, other] = [await web.begin(), await foyer.addUser()];
      await followLink(page, home, logout(Object.fromEntries(new URL(begun.url).searchParams)));
      await signIn(other);
      const { claims } = await web.redeem(await homeAddress(page), begun);
      expect([claims.sub, claims.email]).toEqual([other.id, other.email]);
    });

    it('A switch of account by an id token shows one button when it comes from elsewhere (openid-client)', async () => {
      const [begun, other] = [await relying.begin({ response_type: 'id_token' }), await foyer.addUser()];
      const { code_challenge, code_challenge_method, ...asked } = Object.fromEntries(new URL(begun.url).searchParams);
      await page.goto(logout(asked));
      await button();
      await signIn(other);
      const { config } = await relyingParty(foyer, { id: relying.id, secret: null, redirectUri: callback });
      oidc.useIdTokenResponseType(config);
      const back = new URL(await homeAddress(page));
      const claims = await oidc.implicitAuthentication(config, back, begun.nonce, { expectedState: begun.state });
      expect(claims).toMatchObject({ sub: other.id, email: other.email });
    });

    it('A logout to the broker or to an unregistered address ends at the start page', async () => {
      const foreign = { client_id: relying.id, logout_uri: `${bye}/`, state: 's' };
      for (const asked of [{ redirect: 'broker' }, foreign] as Record<string, string>[]) {
        await enter();
        await page.goto(logout(asked));
        await button();
        // Who is signed in is led away from there.
        await page.getByLabel('Password', { exact: true }).waitFor();
        expect(page.url()).toBe(`${foyer.url}/`);
      }
    });
  });
});
