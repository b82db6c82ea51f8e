import { decodeJwt, SignJWT } from 'jose';
import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { startProductionFoyer, startTrustedProxy } from '../support/production-foyer.ts';
import { formFieldsOf } from '../support/provider-forms.ts';
import { homeFrom } from '../support/relying-party.ts';
import type { ReverseProxy } from '../support/reverse-proxy.ts';
import { sendRequest } from '../support/send-request.ts';
import { type ToldApp, toldApp } from '../support/told-app.ts';

type Fields = Record<string, string>;

const event = 'http://schemas.openid.net/event/backchannel-logout';
const bye = 'http://127.0.0.1:9/test/a/foyer/post_logout_redirect';
/** The suite's state is this long. */
const state = 'a'.repeat(128);

/**
 * The modules of the OpenID Foundation's plans `oidcc-rp-initiated-logout-certification-test-plan` and
 * `oidcc-backchannel-rp-initiated-logout-certification-test-plan`, as the suite sends their requests: code, scope openid,
 * no PKCE, client_secret_basic, a client of `--certification`. Titles begin with the name of the module.
 */
describe('modules of the logout plans', () => {
  let foyer: TestFoyer;
  let user: User;
  let app: ToldApp;
  let appProxy: ReverseProxy;
  let told: { id: string; secret: string | null; redirectUri: string };
  let plain: typeof told;
  beforeAll(async () => {
    foyer = await startProductionFoyer();
    user = await foyer.addUser();
    const certification = { pkceOptional: true, nonceOptional: true, claimsWithoutScope: true, logoutUris: [bye] };
    // The suite expects no call at a back-channel address in the plan without one.
    plain = await foyer.addClient(certification);
    appProxy = await startTrustedProxy();
    const backchannelLogoutUri = `${appProxy.url}/backchannel`;
    app = await toldApp(foyer, { ...certification, idTokenAlg: 'RS256', backchannelLogoutUri });
    appProxy.target = app.address;
    told = app;
  });
  afterAll(async () => {
    await appProxy?.stop();
    await app?.close();
    await foyer?.close();
  });

  const ask = (browser: Browser, client: typeof told, more: Fields = {}) => {
    const query = { client_id: client.id, redirect_uri: client.redirectUri, scope: 'openid', state, nonce: 'n-1' };
    const address = `/oauth2/authorize?${new URLSearchParams({ ...query, response_type: 'code', ...more })}`;
    return browser.get(address, { from: 'cross-site' });
  };
  const redeem = async (callback: string, client: typeof told): Promise<Fields> => {
    const fields = { grant_type: 'authorization_code', redirect_uri: client.redirectUri };
    const code = new URL(callback).searchParams.get('code') ?? '';
    const answer = await sendRequest(`${foyer.url}/oauth2/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
      body: new URLSearchParams({ ...fields, code }),
    });
    return (await answer.json()) as Fields;
  };

  /** The authorization flow before the logout, in a browser that is not signed in. */
  async function signIn(client = plain) {
    const browser = foyer.browser();
    const callback = await homeFrom(browser, locationOf(await ask(browser, client)), user);
    expect(new URL(callback).searchParams.get('state')).toBe(state);
    const { id_token: idToken = '', access_token } = await redeem(callback, client);
    const headers = { authorization: `Bearer ${access_token}` };
    expect((await sendRequest(`${foyer.url}/oauth2/userInfo`, { headers })).status).toBe(200);
    /** The request at the end_session_endpoint; a parameter that is undefined is left out. */
    const endSession = (change: Record<string, string | undefined> = {}) => {
      const request = { id_token_hint: idToken, post_logout_redirect_uri: bye, state, ...change };
      const sent = Object.entries(request).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
      return browser.get(`/oauth2/logout?${new URLSearchParams(sent)}`, { from: 'cross-site' });
    };
    /** The second authorization request, which must fail after a logout. */
    const silently = async () => {
      const back = new URL(locationOf(await ask(browser, client, { prompt: 'none' }))).searchParams;
      return back.get('error') ?? 'a code';
    };
    return { browser, idToken, endSession, silently };
  }
  type Visit = Awaited<ReturnType<typeof signIn>>;

  /** Presses the button of the question; returns the address of the next page. */
  async function confirm({ browser }: Visit, question: Response): Promise<string> {
    expect([question.status, question.headers.get('location')]).toEqual([200, null]);
    const html = await question.text();
    expect(html).toContain('Sign out?');
    return new URL(locationOf(await browser.post('/logout', formFieldsOf(html)))).pathname;
  }
  async function expectErrorPage({ silently }: Visit, page: Response): Promise<void> {
    expect([page.status, page.headers.get('location')]).toEqual([400, null]);
    const html = await page.text();
    expect(html).toContain('You aren’t signed out yet');
    // The member wanted to sign out, and can.
    expect(html).toMatch(/href="\/logout"[^>]*>Sign out here/);
    expect(await silently()).toBe('a code');
  }
  const readDiscovery = async () =>
    (await (await sendRequest(`${foyer.url}/.well-known/openid-configuration`)).json()) as Record<string, unknown>;

  describe('RP-Initiated Logout OP', () => {
    it('oidcc-rp-initiated-logout-discovery-endpoint-verification: discovery names the end_session_endpoint', async () => {
      expect((await readDiscovery()).end_session_endpoint).toBe(`${foyer.url}/oauth2/logout`);
    });

    it('oidcc-rp-initiated-logout: the user is signed out and returns with the state and nothing else', async () => {
      const visit = await signIn();
      expect(locationOf(await visit.endSession())).toBe(`${bye}?state=${state}`);
      expect(await visit.silently()).toBe('login_required');
    });

    it('oidcc-rp-initiated-logout-no-state: a request without state returns without one', async () => {
      const visit = await signIn();
      expect(locationOf(await visit.endSession({ state: undefined }))).toBe(bye);
      expect(await visit.silently()).toBe('login_required');
    });

    it('oidcc-rp-initiated-logout-bad-id-token-hint: a hint that the client has signed gets an error page', async () => {
      const visit = await signIn();
      const fake = await new SignJWT({ iss: plain.id, sub: 'SubjectID', aud: foyer.url, nonce: 'flibble' })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuedAt()
        .setExpirationTime('5m')
        .sign(new TextEncoder().encode(plain.secret ?? ''));
      await expectErrorPage(visit, await visit.endSession({ id_token_hint: fake }));
    });

    it('oidcc-rp-initiated-logout-modified-id-token-hint: a hint that is changed to alg none gets an error page', async () => {
      const visit = await signIn();
      const [, payload] = visit.idToken.split('.');
      const unsigned = `${Buffer.from('{"alg": "none"}').toString('base64url')}.${payload}.`;
      await expectErrorPage(visit, await visit.endSession({ id_token_hint: unsigned }));
    });

    it('oidcc-rp-initiated-logout-no-id-token-hint: a page asks, says why the user will not return, and does not return', async () => {
      const visit = await signIn();
      const question = await visit.endSession({ id_token_hint: undefined });
      expect(await question.clone().text()).toContain('didn’t say which app it’s');
      expect(await visit.silently()).toBe('a code');
      expect(await confirm(visit, question)).toBe('/');
      expect(await visit.silently()).toBe('login_required');
    });

    it.each([
      [
        'oidcc-rp-initiated-logout-bad-post-logout-redirect-uri',
        `${bye.replace(/[^/]+$/, '')}bad_post_logout_redirect_uri`,
      ],
      ['oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri', `${bye}?foo=bar`],
    ])('%s: an address that is not registered gets an error page', async (_module, address) => {
      const visit = await signIn();
      await expectErrorPage(visit, await visit.endSession({ post_logout_redirect_uri: address }));
    });

    it('oidcc-rp-initiated-logout-no-post-logout-redirect-uri: the user is signed out and stays here', async () => {
      const visit = await signIn();
      const answer = await visit.endSession({ post_logout_redirect_uri: undefined });
      expect(locationOf(answer)).toBe(`${foyer.url}/`);
      expect(await visit.silently()).toBe('login_required');
    });

    it.each([
      ['oidcc-rp-initiated-logout-no-params', undefined],
      ['oidcc-rp-initiated-logout-only-state', state],
    ])('%s: the user is asked, signed out, and stays here', async (_module, sent) => {
      const visit = await signIn();
      const nothing = { id_token_hint: undefined, post_logout_redirect_uri: undefined, state: sent };
      expect(await confirm(visit, await visit.endSession(nothing))).toBe('/');
      expect(await visit.silently()).toBe('login_required');
    });
  });

  describe('Back-Channel Logout OP', () => {
    it('oidcc-backchannel-logout-discovery-endpoint-verification: discovery names back-channel logout with sid', async () => {
      expect(await readDiscovery()).toMatchObject({
        backchannel_logout_supported: true,
        backchannel_logout_session_supported: true,
        end_session_endpoint: `${foyer.url}/oauth2/logout`,
      });
    });

    it('oidcc-backchannel-rp-initiated-logout: the client gets a valid logout token, and the user returns with the state', async () => {
      const visit = await signIn(told);
      expect(locationOf(await visit.endSession())).toBe(`${bye}?state=${state}`);
      const { sid, sub } = decodeJwt(visit.idToken);
      // Verifies signature, times, events and that there is no nonce.
      expect(await app.heard()).toEqual([sid]);
      const [request] = app.told;
      expect(request?.method).toBe('POST');
      expect(request?.type).toMatch(/^application\/x-www-form-urlencoded\b/);
      const claims = decodeJwt(request?.token ?? '');
      expect(claims).toMatchObject({ iss: foyer.url, aud: told.id, sub, sid, events: { [event]: {} } });
      expect([typeof claims.jti, claims.nonce]).toEqual(['string', undefined]);
      expect(await visit.silently()).toBe('login_required');
    });
  });
});
