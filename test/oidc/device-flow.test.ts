import * as oauth from 'oauth4webapi';
import * as oidc from 'openid-client';
import { codeFor, newAddress, profile } from '../sign-up/steps.ts';
import { locationOf } from '../support/browser.ts';
import { answerCode, device, finishCode, hiddenField, typeCode } from '../support/devices.ts';
import { password } from '../support/foyer.ts';
import { relyingParty, store, tokensFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { discover, insecure } from './oauth4webapi.ts';
import { setUpUser } from './user-and-client.ts';

const minuteMs = 60_000;

describe.each(backends)('sign-in on a device on $name', (backend) => {
  const context = setUpUser(backend);

  afterEach(() => {
    jest.restoreAllMocks();
  });

  describe.each([
    { kind: 'a public client without addresses', registration: {} },
    { kind: 'a client with a secret', registration: { public: false } },
    { kind: 'a native app, which asks for consent', registration: { native: true } },
    { kind: 'a third-party app, which asks for consent', registration: { thirdParty: true } },
  ])('$kind', ({ registration }) => {
    it('A device gets tokens for the user who enters its code in a browser that was not signed in', async () => {
      const radio = await device(context.foyer, registration);
      const asked = await radio.ask();
      expect(asked).toMatchObject({
        user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
        verification_uri: `${context.foyer.url}/device`,
        verification_uri_complete: `${context.foyer.url}/device?user_code=${asked.user_code}`,
        expires_in: 600,
      });
      const browser = context.foyer.browser();
      const end = await finishCode(browser, await answerCode(browser, asked.user_code), context.user);
      expect(new URL(end).pathname).toBe('/device/done');
      expect(await (await browser.get(end)).text()).toContain('Harbour Radio');
      // The library does the same, but it waits between two polls.
      const tokens = await oidc.pollDeviceAuthorizationGrant(radio.config, { ...asked, interval: 0.01 });
      expect(tokens.claims()).toMatchObject({ sub: context.user.id, aud: radio.id });
      const info = await oidc.fetchUserInfo(radio.config, tokens.access_token, context.user.id);
      expect(info.email).toBe(context.user.email);
      // A third-party app gets a refresh token only if it may ask for offline_access.
      if ('thirdParty' in registration) expect(tokens.refresh_token).toBeUndefined();
      else
        expect((await oidc.refreshTokenGrant(radio.config, tokens.refresh_token ?? '')).claims()?.sub).toBe(
          context.user.id,
        );
    });
  });

  it('A device with oauth4webapi gets DPoP-bound tokens through a browser that is signed in', async () => {
    const radio = await device(context.foyer, { dpopBound: true });
    const as = await discover(context.foyer.url);
    const client = { client_id: radio.id };
    const asked = await oauth.processDeviceAuthorizationResponse(
      as,
      client,
      await oauth.deviceAuthorizationRequest(as, client, oauth.None(), { scope: 'openid email' }, insecure),
    );
    const browser = await context.foyer.signedIn(context.user);
    expect(await answerCode(browser, asked.user_code)).toMatch(/\/device\/done\?client_id=/);
    const DPoP = oauth.DPoP({}, await oauth.generateKeyPair('ES256'));
    const poll = async () =>
      oauth.processDeviceCodeResponse(
        as,
        client,
        await oauth.deviceCodeGrantRequest(as, client, oauth.None(), asked.device_code, { DPoP, ...insecure }),
      );
    const first = await poll().catch((error: unknown) => error);
    expect(oauth.isDPoPNonceError(first)).toBe(true);
    const tokens = await poll();
    expect([tokens.token_type, oauth.getValidatedIdTokenClaims(tokens)?.sub]).toEqual(['dpop', context.user.id]);
  });

  it('A polling device gets authorization_pending, slow_down, access_denied or expired_token', async () => {
    const radio = await device(context.foyer);
    const [refused, late] = [await radio.ask(), await radio.ask()];
    const errorOf = async (asked: typeof late) => (await radio.poll(asked)).body.error;
    expect(await errorOf(late)).toBe('authorization_pending');
    expect(await errorOf(late)).toBe('slow_down');
    const browser = await context.foyer.signedIn(context.user);
    expect(new URL(await answerCode(browser, refused.user_code, 'abort')).pathname).toBe('/device/refused');
    expect(await errorOf(refused)).toBe('access_denied');
    const realNow = Date.now.bind(Date);
    jest.spyOn(Date, 'now').mockImplementation(() => realNow() + 10 * minuteMs + 20_000);
    expect(await errorOf(late)).toBe('expired_token');
    const visitor = await context.foyer.signedIn(context.user);
    const xsrf = hiddenField(await (await visitor.get('/oauth2/device')).text(), 'xsrf');
    const typed = await visitor.submit('/oauth2/device', { xsrf, user_code: late.user_code });
    expect([typed.status, typed.headers.get('location')]).toEqual([303, '/device']);
    jest.restoreAllMocks();
    const page = await visitor.get('/oauth2/device');
    expect([page.status, await page.text()]).toEqual([400, expect.stringContaining('has expired')]);
  });

  it('A visitor without an account signs up on the way and connects the device', async () => {
    const radio = await device(context.foyer);
    const asked = await radio.ask();
    const [browser, email] = [context.foyer.browser(), newAddress()];
    const { search } = new URL(await answerCode(browser, asked.user_code));
    await browser.post(`/signup${search}`, profile(email));
    const confirmed = await browser.post(`/signup/emailCaptured${search}`, {
      code: await codeFor(context.foyer, email),
    });
    expect(new URL(locationOf(confirmed)).search).toBe(search);
    const end = await finishCode(browser, `${context.foyer.url}/verify-user${search}`, { email });
    expect(new URL(end).pathname).toBe('/device/done');
    const tokens = await oidc.pollDeviceAuthorizationGrant(radio.config, { ...asked, interval: 0.01 });
    const info = await oidc.fetchUserInfo(radio.config, tokens.access_token, tokens.claims()?.sub ?? '');
    expect(info.email).toBe(email);
  });

  it('A user who signs in after the code expired gets a message and the field for a new code', async () => {
    const radio = await device(context.foyer);
    const asked = await radio.ask();
    const browser = context.foyer.browser();
    const { search } = new URL(await answerCode(browser, asked.user_code));
    const realNow = Date.now.bind(Date);
    jest.spyOn(Date, 'now').mockImplementation(() => realNow() + 11 * minuteMs);
    const verify = locationOf(await browser.post(`/sign-in${search}`, { username: context.user.email, password }));
    const page = await browser.get(await store(browser, verify));
    const html = await page.text();
    expect([page.status, html]).toEqual([400, expect.stringContaining('Have your device show a new one.')]);
    expect(html).toContain('name="user_code"');
  });

  it('A user who denies consent also denies the device', async () => {
    const radio = await device(context.foyer, { thirdParty: true });
    const asked = await radio.ask();
    const browser = await context.foyer.signedIn(context.user);
    const consent = new URL(await answerCode(browser, asked.user_code));
    expect(consent.pathname).toBe('/consent');
    expect(await (await browser.get(consent.href)).text()).toContain('You go back to the device that shows the code.');
    const id = consent.searchParams.get('authorization_code') ?? '';
    await browser.post('/consent', { authorization_code: id, decision: 'deny' });
    const end = await browser.get(`/oauth2/device/${id}`);
    expect([end.status, end.headers.get('location')]).toEqual([303, '/device/refused']);
    expect((await radio.poll(asked)).body.error).toBe('access_denied');
  });

  it('A code is accepted in lower case and without a hyphen, and a wrong one stays in the field', async () => {
    const radio = await device(context.foyer);
    const { user_code: code } = await radio.ask();
    const browser = context.foyer.browser();
    for (const spelt of [code.toLowerCase(), code.replace('-', ''), ` ${code.replace('-', ' ')} `]) {
      const page = await (await typeCode(browser, spelt)).text();
      expect(page).toContain(`<code class="device-code">${code}</code>`);
      expect(page).toContain('Harbour Radio');
    }
    const wrong = await typeCode(browser, 'bcdf-bcd');
    expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringMatching(/value="bcdf-bcd"|bcdf-bcd/)]);
    expect((await typeCode(browser, '')).status).toBe(400);
  });

  it('A page that a newer page of the same browser replaced asks once more and keeps the code', async () => {
    const radio = await device(context.foyer);
    const { user_code: code } = await radio.ask();
    const browser = context.foyer.browser();
    const old = hiddenField(await (await browser.get('/oauth2/device')).text(), 'xsrf');
    await browser.get('/oauth2/device');
    const answer = await browser.post('/oauth2/device', { xsrf: old, user_code: code });
    const html = await answer.text();
    expect([answer.status, html]).toEqual([400, expect.stringContaining(`value="${code}"`)]);
    expect(html).toContain('Please select Continue once more.');
    const again = await browser.post('/oauth2/device', { xsrf: hiddenField(html, 'xsrf'), user_code: code });
    expect(again.status).toBe(200);
  });

  it('GET /device redirects to /oauth2/device, whose language buttons lead back with the code', async () => {
    const browser = context.foyer.browser();
    const to = (await browser.get('/device?user_code=BCDF-GHJK')).headers.get('location') ?? '';
    expect(to).toBe('/oauth2/device?user_code=BCDF-GHJK');
    const html = await (await browser.get(to)).text();
    expect(html).toContain('value="BCDF-GHJK"');
    expect(html).toContain('name="redirect" value="/device?user_code=BCDF-GHJK"');
    const chosen = await browser.post('/language', { lang: 'nl', redirect: '/device?user_code=BCDF-GHJK' });
    expect(new URL(chosen.headers.get('location') ?? '', context.foyer.url).pathname).toBe('/device');
    expect(await (await browser.get(to)).text()).toContain('Apparaat verbinden');
  });

  it('A device code used twice ends the tokens of that device alone, and a sign-out leaves devices connected', async () => {
    const radio = await device(context.foyer, { redirectUris: ['http://127.0.0.1:9/radio'] });
    const browser = await context.foyer.signedIn(context.user);
    const own = { id: radio.id, secret: null, redirectUri: 'http://127.0.0.1:9/radio' };
    const web = (await tokensFor(await relyingParty(context.foyer, own, 'openid email'), browser, context.user))
      .access_token;
    const signInOnDevice = async () => {
      const asked = await radio.ask();
      await answerCode(browser, asked.user_code);
      return { asked, token: String((await radio.poll(asked)).body.access_token) };
    };
    const [first, second] = [await signInOnDevice(), await signInOnDevice()];
    const active = () =>
      Promise.all(
        [web, first.token, second.token].map(
          async (token) => (await oidc.tokenIntrospection(radio.config, token)).active,
        ),
      );
    expect(await active()).toEqual([true, true, true]);
    expect((await radio.poll(first.asked)).body.error).toBe('invalid_grant');
    expect(await active()).toEqual([true, false, true]);
    await browser.post('/logout');
    expect(await active()).toEqual([false, false, true]);
  });
});
