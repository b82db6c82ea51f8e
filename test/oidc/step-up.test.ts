import * as oidc from 'openid-client';
import { memberWithPasskey, signInWith } from '../passkeys/steps.ts';
import { appCode, giveRecoveryCodes, memberWithTotp, show, toChallenge } from '../sign-in/factor-steps.ts';
import { locationOf } from '../support/browser.ts';
import { password } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { minuteMs, setUpStepUp } from './step-up-steps.ts';

/** OpenID Connect Core 1.0, sections 2, 3.1.2.1 and 5.5.1.1. */
describe.each(backends)('step-up authentication on $name', (backend) => {
  const context = setUpStepUp(backend);
  const { lead, atOnce, errorOf, home, how, remembered, askedAgain, showAgain } = context;

  describe('amr, acr and auth_time (RFC 8176)', () => {
    const seconds = () => Math.floor(context.foyer.deps.now() / 1000);

    it('A password sign-in gives amr pwd and acr aal1', async () => {
      const before = seconds();
      const tokens = await atOnce(await context.foyer.signedIn(await context.foyer.addUser()));
      expect(how(tokens)).toEqual({ amr: ['pwd'], acr: 'aal1' });
      const authTime = Number(tokens.claims()?.auth_time);
      expect(authTime).toBeGreaterThanOrEqual(before);
      expect(authTime).toBeLessThanOrEqual(seconds());
    });

    it('An authenticator app gives acr aal2, and auth_time is the time of its code, not of the password', async () => {
      const { user, secret } = await memberWithTotp(context.foyer);
      const browser = context.foyer.browser();
      await toChallenge(browser, user);
      context.foyer.passTime(2 * minuteMs);
      const before = seconds();
      await show(browser, await appCode(context.foyer, secret));
      const tokens = await atOnce(browser);
      expect(how(tokens)).toEqual({ amr: ['pwd', 'otp', 'mfa'], acr: 'aal2' });
      expect(Number(tokens.claims()?.auth_time)).toBeGreaterThanOrEqual(before);
    });

    it('A recovery code gives amr otp and mfa and acr aal2', async () => {
      const { user } = await memberWithTotp(context.foyer);
      const [code = ''] = await giveRecoveryCodes(context.foyer, user);
      const browser = context.foyer.browser();
      await toChallenge(browser, user);
      expect((await show(browser, code, { method: 'recovery' })).status).toBe(303);
      expect(how(await atOnce(browser))).toEqual({ amr: ['pwd', 'otp', 'mfa'], acr: 'aal2' });
    });

    it('A remembered device gives the acr of the password alone', async () => {
      const { browser } = await remembered();
      expect(how(await atOnce(browser))).toEqual({ amr: ['pwd'], acr: 'aal1' });
    });

    it.each([
      [true, 'swk'],
      [false, 'hwk'],
    ])('A passkey gives acr phr and the amr of its key storage, synced: %s', async (backedUp, kind) => {
      const { authenticator } = await memberWithPasskey(context.foyer, { backedUp });
      const browser = context.foyer.browser();
      expect((await signInWith(browser, authenticator)).status).toBe(303);
      const { amr, acr } = how(await atOnce(browser));
      expect([...(amr as string[])].sort()).toEqual(['mfa', 'pop', 'user', kind].sort());
      expect(acr).toBe('phr');
    });

    it('Introspection of an access token has acr and auth_time, before and after a refresh', async () => {
      const { user, secret } = await memberWithTotp(context.foyer);
      const browser = context.foyer.browser();
      await toChallenge(browser, user);
      await show(browser, await appCode(context.foyer, secret));
      const tokens = await atOnce(browser);
      const refreshed = await oidc.refreshTokenGrant(context.client.config, tokens.refresh_token ?? '');
      expect(how(refreshed)).toEqual(how(tokens));
      for (const { access_token: token } of [tokens, refreshed]) {
        const said = await oidc.tokenIntrospection(context.client.config, token);
        expect(said).toMatchObject({ active: true, acr: 'aal2', auth_time: tokens.claims()?.auth_time as number });
      }
    });
  });

  describe('max_age', () => {
    it('max_age=0 asks even a user who signed in this very second', async () => {
      const user = await context.foyer.addUser();
      const browser = await context.foyer.signedIn(user);
      expect(await errorOf(browser, { prompt: 'none', max_age: '0' })).toBe('login_required');
      const begun = await context.client.begin({ max_age: '0' });
      const landing = await lead(browser, begun);
      expect(landing.pathname).toBe('/');
      expect((await browser.get(landing.href)).status).toBe(200);
      const at = locationOf(await browser.post(`/sign-in${landing.search}`, { username: user.email, password }));
      const tokens = await context.client.redeem(await home(browser, at), begun);
      expect(tokens.claims()?.sub).toBe(user.id);
    });

    it('prompt=none gets login_required for a sign-in older than max_age and a code for a younger one', async () => {
      const user = await context.foyer.addUser();
      context.foyer.passTime(-10 * minuteMs);
      const browser = await context.foyer.signedIn(user);
      context.foyer.passTime(10 * minuteMs);
      expect(await errorOf(browser, { prompt: 'none', max_age: '300' })).toBe('login_required');
      expect((await atOnce(browser, { prompt: 'none', max_age: '900' })).claims()?.sub).toBe(user.id);
    });
  });

  describe('acr_values', () => {
    it.each(['aal2', 'phr aal2', 'aal2 urn:example:gold'])(
      'acr_values=%s asks a user who has a stronger factor for it',
      async (values) => {
        const { user, secret, browser } = await remembered();
        const before = await atOnce(browser);
        context.foyer.passTime(minuteMs);
        const begun = await context.client.begin({ acr_values: values });
        const again = await askedAgain(browser, await lead(browser, begun));
        const tokens = await context.client.redeem(await home(browser, await showAgain(browser, again, secret)), begun);
        expect(how(tokens)).toEqual({ amr: ['pwd', 'otp', 'mfa'], acr: 'aal2' });
        expect(tokens.claims()?.sub).toBe(user.id);
        expect(Number(tokens.claims()?.auth_time)).toBeGreaterThan(Number(before.claims()?.auth_time));
        // The earlier tokens of the client app still work, and the next request asks nothing.
        await oidc.fetchUserInfo(context.client.config, before.access_token, user.id);
        expect(how(await atOnce(browser, { acr_values: values }))).toEqual(how(tokens));
      },
    );

    it('A signed-out user is asked for all factors in one sign-in, also on a remembered device', async () => {
      const { user, secret, browser } = await remembered();
      await browser.post('/logout');
      context.foyer.passTime(minuteMs);
      const begun = await context.client.begin({ acr_values: 'aal2' });
      const landing = await lead(browser, begun);
      const factor = locationOf(await browser.post(`/sign-in${landing.search}`, { username: user.email, password }));
      expect(new URL(factor).pathname).toBe('/second-factor');
      const at = locationOf(await show(browser, await appCode(context.foyer, secret), {}, new URL(factor).search));
      expect(how(await context.client.redeem(await home(browser, at), begun))).toMatchObject({ acr: 'aal2' });
    });

    it.each(['aal2', 'phr', 'urn:example:gold'])(
      'acr_values=%s asks nothing of a user who has no stronger factor',
      async (values) => {
        const browser = await context.foyer.signedIn(await context.foyer.addUser());
        expect(how(await atOnce(browser, { acr_values: values }))).toEqual({ amr: ['pwd'], acr: 'aal1' });
      },
    );

    it('prompt=none gives a code with a lower acr, because acr_values is voluntary', async () => {
      const { browser } = await remembered();
      const tokens = await atOnce(browser, { prompt: 'none', acr_values: 'aal2' });
      expect(how(tokens)).toEqual({ amr: ['pwd'], acr: 'aal1' });
    });

    it('A stronger sign-in satisfies acr_values and is reported with the acr that the client requested', async () => {
      const { authenticator } = await memberWithPasskey(context.foyer);
      const browser = context.foyer.browser();
      await signInWith(browser, authenticator);
      expect(how(await atOnce(browser, { acr_values: 'aal2' })).acr).toBe('aal2');
      expect(how(await atOnce(browser, { acr_values: 'aal2 phr' })).acr).toBe('phr');
      expect(how(await atOnce(browser, { acr_values: 'aal1' })).acr).toBe('aal1');
      expect(how(await atOnce(browser, { acr_values: 'urn:example:gold' })).acr).toBe('phr');
    });

    it('acr_values=phr asks a user for the passkey, and the password again is accepted with acr aal1', async () => {
      const { browser, authenticator } = await memberWithPasskey(context.foyer);
      const begun = await context.client.begin({ acr_values: 'phr' });
      const again = await askedAgain(browser, await lead(browser, begun));
      const at = locationOf(await browser.post(again.pathname + again.search, { password }));
      expect(how(await context.client.redeem(await home(browser, at), begun))).toEqual({ amr: ['pwd'], acr: 'aal1' });

      const next = await context.client.begin({ acr_values: 'phr' });
      const asked = await askedAgain(browser, await lead(browser, next));
      const answer = await signInWith(browser, authenticator, { path: asked.pathname + asked.search });
      expect(answer.status).toBe(303);
      expect(how(await context.client.redeem(await home(browser, locationOf(answer)), next)).acr).toBe('phr');
    });
  });
});
