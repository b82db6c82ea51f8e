import * as oidc from 'openid-client';
import type { User } from '../../server/users/index.ts';
import { memberWithPasskey, signInWith } from '../passkeys/steps.ts';
import { appCode, giveRecoveryCodes, memberWithTotp, show, toChallenge } from '../sign-in/factor-steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type Begun, type RelyingParty, relyingParty, store, type Tokens } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

const minuteMs = 60_000;

const essentialAcr = (acr: object) => ({ claims: JSON.stringify({ id_token: { acr: { essential: true, ...acr } } }) });

/** OpenID Connect Core 1.0, sections 2, 3.1.2.1 and 5.5.1.1. */
describe.each(backends)('step-up authentication on $name', (backend) => {
  let foyer: TestFoyer;
  let client: RelyingParty;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '1000' });
    client = await relyingParty(foyer, await foyer.addClient());
  });
  afterAll(() => foyer?.close());

  /** Where a request leads at once. */
  const lead = async (browser: Browser, begun: Begun) =>
    new URL(locationOf(await browser.get(begun.url, { from: 'cross-site' })));
  /** The tokens that a client app gets without anybody being asked. */
  async function atOnce(browser: Browser, parameters: Record<string, string> = {}): Promise<Tokens> {
    const begun = await client.begin(parameters);
    return client.redeem((await lead(browser, begun)).href, begun);
  }
  async function errorOf(browser: Browser, parameters: Record<string, string>): Promise<string | null> {
    const at = await lead(browser, await client.begin(parameters));
    expect(at.origin + at.pathname).toBe(client.redirectUri);
    return at.searchParams.get('error');
  }
  /** From the page that hands the request over to the client app. */
  const home = async (browser: Browser, verifyUser: string) =>
    locationOf(await browser.get(await store(browser, verifyUser)));
  const how = (tokens: Tokens) => {
    const claims = tokens.claims();
    return { amr: claims?.amr, acr: claims?.acr };
  };

  /** In a browser that is remembered: signed in with the password alone. */
  async function remembered(): Promise<{ user: User; secret: string; browser: Browser }> {
    const { user, secret } = await memberWithTotp(foyer);
    const browser = foyer.browser();
    await toChallenge(browser, user);
    await show(browser, await appCode(foyer, secret), { rememberDevice: '1' });
    await browser.post('/logout');
    foyer.passTime(minuteMs);
    const answer = await browser.post('/sign-in', { username: user.email, password });
    expect(answer.headers.get('location')).not.toContain('second-factor');
    return { user, secret, browser };
  }
  /** The landing page sends a member who is signed in to show more; answers that page's address. */
  async function askedAgain(browser: Browser, landing: URL): Promise<URL> {
    expect(landing.pathname).toBe('/');
    const again = new URL(locationOf(await browser.get(landing.href)));
    expect(again.pathname).toBe('/re-authenticate');
    expect((await browser.get(again.href)).status).toBe(200);
    return again;
  }
  /** Password and code on the pages that ask again; answers the address that hands the request over. */
  async function showAgain(browser: Browser, again: URL, secret: string): Promise<string> {
    const factor = new URL(locationOf(await browser.post(again.pathname + again.search, { password })));
    expect(factor.pathname).toBe('/second-factor');
    const at = locationOf(await show(browser, await appCode(foyer, secret), {}, factor.search));
    expect(new URL(at).pathname).toBe('/verify-user');
    return at;
  }

  describe('amr, acr and auth_time (RFC 8176)', () => {
    const seconds = () => Math.floor(foyer.deps.now() / 1000);

    it('A password sign-in gives amr pwd and acr aal1', async () => {
      const before = seconds();
      const tokens = await atOnce(await foyer.signedIn(await foyer.addUser()));
      expect(how(tokens)).toEqual({ amr: ['pwd'], acr: 'aal1' });
      const authTime = Number(tokens.claims()?.auth_time);
      expect(authTime).toBeGreaterThanOrEqual(before);
      expect(authTime).toBeLessThanOrEqual(seconds());
    });

    it('An authenticator app gives acr aal2, and auth_time is the time of its code, not of the password', async () => {
      const { user, secret } = await memberWithTotp(foyer);
      const browser = foyer.browser();
      await toChallenge(browser, user);
      foyer.passTime(2 * minuteMs);
      const before = seconds();
      await show(browser, await appCode(foyer, secret));
      const tokens = await atOnce(browser);
      expect(how(tokens)).toEqual({ amr: ['pwd', 'otp', 'mfa'], acr: 'aal2' });
      expect(Number(tokens.claims()?.auth_time)).toBeGreaterThanOrEqual(before);
    });

    it('A recovery code gives amr otp and mfa and acr aal2', async () => {
      const { user } = await memberWithTotp(foyer);
      const [code = ''] = await giveRecoveryCodes(foyer, user);
      const browser = foyer.browser();
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
      const { authenticator } = await memberWithPasskey(foyer, { backedUp });
      const browser = foyer.browser();
      expect((await signInWith(browser, authenticator)).status).toBe(303);
      const { amr, acr } = how(await atOnce(browser));
      expect([...(amr as string[])].sort()).toEqual(['mfa', 'pop', 'user', kind].sort());
      expect(acr).toBe('phr');
    });

    it('Introspection of an access token has acr and auth_time, before and after a refresh', async () => {
      const { user, secret } = await memberWithTotp(foyer);
      const browser = foyer.browser();
      await toChallenge(browser, user);
      await show(browser, await appCode(foyer, secret));
      const tokens = await atOnce(browser);
      const refreshed = await oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '');
      expect(how(refreshed)).toEqual(how(tokens));
      for (const { access_token: token } of [tokens, refreshed]) {
        const said = await oidc.tokenIntrospection(client.config, token);
        expect(said).toMatchObject({ active: true, acr: 'aal2', auth_time: tokens.claims()?.auth_time as number });
      }
    });
  });

  describe('max_age', () => {
    it('max_age=0 asks even a user who signed in this very second', async () => {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      expect(await errorOf(browser, { prompt: 'none', max_age: '0' })).toBe('login_required');
      const begun = await client.begin({ max_age: '0' });
      const landing = await lead(browser, begun);
      expect(landing.pathname).toBe('/');
      expect((await browser.get(landing.href)).status).toBe(200);
      const at = locationOf(await browser.post(`/sign-in${landing.search}`, { username: user.email, password }));
      const tokens = await client.redeem(await home(browser, at), begun);
      expect(tokens.claims()?.sub).toBe(user.id);
    });

    it('prompt=none gets login_required for a sign-in older than max_age and a code for a younger one', async () => {
      const user = await foyer.addUser();
      foyer.passTime(-10 * minuteMs);
      const browser = await foyer.signedIn(user);
      foyer.passTime(10 * minuteMs);
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
        foyer.passTime(minuteMs);
        const begun = await client.begin({ acr_values: values });
        const again = await askedAgain(browser, await lead(browser, begun));
        const tokens = await client.redeem(await home(browser, await showAgain(browser, again, secret)), begun);
        expect(how(tokens)).toEqual({ amr: ['pwd', 'otp', 'mfa'], acr: 'aal2' });
        expect(tokens.claims()?.sub).toBe(user.id);
        expect(Number(tokens.claims()?.auth_time)).toBeGreaterThan(Number(before.claims()?.auth_time));
        // What the client app had goes on, and it is asked no more.
        await oidc.fetchUserInfo(client.config, before.access_token, user.id);
        expect(how(await atOnce(browser, { acr_values: values }))).toEqual(how(tokens));
      },
    );

    it('A signed-out user is asked for all factors in one sign-in, also on a remembered device', async () => {
      const { user, secret, browser } = await remembered();
      await browser.post('/logout');
      foyer.passTime(minuteMs);
      const begun = await client.begin({ acr_values: 'aal2' });
      const landing = await lead(browser, begun);
      const factor = locationOf(await browser.post(`/sign-in${landing.search}`, { username: user.email, password }));
      expect(new URL(factor).pathname).toBe('/second-factor');
      const at = locationOf(await show(browser, await appCode(foyer, secret), {}, new URL(factor).search));
      expect(how(await client.redeem(await home(browser, at), begun))).toMatchObject({ acr: 'aal2' });
    });

    it.each(['aal2', 'phr', 'urn:example:gold'])(
      'acr_values=%s asks nothing of a user who has no stronger factor',
      async (values) => {
        const browser = await foyer.signedIn(await foyer.addUser());
        expect(how(await atOnce(browser, { acr_values: values }))).toEqual({ amr: ['pwd'], acr: 'aal1' });
      },
    );

    it('prompt=none gives a code with a lower acr, because acr_values is voluntary', async () => {
      const { browser } = await remembered();
      const tokens = await atOnce(browser, { prompt: 'none', acr_values: 'aal2' });
      expect(how(tokens)).toEqual({ amr: ['pwd'], acr: 'aal1' });
    });

    it('A stronger sign-in satisfies acr_values and is reported with the acr that the client requested', async () => {
      const { authenticator } = await memberWithPasskey(foyer);
      const browser = foyer.browser();
      await signInWith(browser, authenticator);
      expect(how(await atOnce(browser, { acr_values: 'aal2' })).acr).toBe('aal2');
      expect(how(await atOnce(browser, { acr_values: 'aal2 phr' })).acr).toBe('phr');
      expect(how(await atOnce(browser, { acr_values: 'aal1' })).acr).toBe('aal1');
      expect(how(await atOnce(browser, { acr_values: 'urn:example:gold' })).acr).toBe('phr');
    });

    it('acr_values=phr asks a user for the passkey, and the password again is accepted with acr aal1', async () => {
      const { browser, authenticator } = await memberWithPasskey(foyer);
      const begun = await client.begin({ acr_values: 'phr' });
      const again = await askedAgain(browser, await lead(browser, begun));
      const at = locationOf(await browser.post(again.pathname + again.search, { password }));
      expect(how(await client.redeem(await home(browser, at), begun))).toEqual({ amr: ['pwd'], acr: 'aal1' });

      const next = await client.begin({ acr_values: 'phr' });
      const asked = await askedAgain(browser, await lead(browser, next));
      const answer = await signInWith(browser, authenticator, { path: asked.pathname + asked.search });
      expect(answer.status).toBe(303);
      expect(how(await client.redeem(await home(browser, locationOf(answer)), next)).acr).toBe('phr');
    });
  });

  describe('acr as an essential claim', () => {
    it.each([
      ['value', { value: 'aal2' }],
      ['values', { values: ['urn:example:gold', 'aal2'] }],
    ])('An essential acr with %s is asked for and given', async (_what, acr) => {
      const { secret, browser } = await remembered();
      expect(await errorOf(browser, { prompt: 'none', ...essentialAcr(acr) })).toBe('login_required');
      const begun = await client.begin(essentialAcr(acr));
      const again = await askedAgain(browser, await lead(browser, begun));
      const tokens = await client.redeem(await home(browser, await showAgain(browser, again, secret)), begun);
      expect(how(tokens).acr).toBe('aal2');
      expect(how(await atOnce(browser, { prompt: 'none', ...essentialAcr(acr) })).acr).toBe('aal2');
    });

    it('An essential acr that the user cannot reach gets unmet_authentication_requirements, whatever acr_values says', async () => {
      const browser = await foyer.signedIn(await foyer.addUser());
      const unmet = 'unmet_authentication_requirements';
      for (const more of [{}, { prompt: 'none' }, { acr_values: 'aal1' }] as Record<string, string>[]) {
        expect(await errorOf(browser, { ...essentialAcr({ value: 'aal2' }), ...more })).toBe(unmet);
      }
      expect(await errorOf(browser, essentialAcr({ values: ['urn:example:gold'] }))).toBe(unmet);
    });

    it('A user who answers with less than the essential acr causes an error, not another question', async () => {
      const { browser } = await memberWithPasskey(foyer);
      const begun = await client.begin(essentialAcr({ value: 'phr' }));
      const again = await askedAgain(browser, await lead(browser, begun));
      const at = locationOf(await browser.post(again.pathname + again.search, { password }));
      const back = new URL(await home(browser, at));
      expect(back.searchParams.get('error')).toBe('unmet_authentication_requirements');
      expect(back.searchParams.get('state')).toBe(begun.state);
    });

    it('Attack: an earlier or weaker sign-in never satisfies an essential acr, nor does a forged /storage call', async () => {
      const { user, browser } = await remembered();
      const landing = await lead(browser, await client.begin(essentialAcr({ value: 'aal2' })));
      const id = landing.searchParams.get('authorization_code') ?? '';
      const forged = { authorization_code: id, acr: 'aal2', amr: ['pwd', 'otp', 'mfa'], stepUp: true };
      const stored = await browser.postJson('/storage', forged);
      const { data } = (await stored.json()) as { data: { location: string } };
      expect(new URL(data.location, foyer.url).pathname).toBe('/');
      expect(new URL(locationOf(await browser.get(`/oauth2/authorize/${id}`))).pathname).toBe('/');
      // Nor does another sign-in that leaves the second factor out, in another tab.
      const tab = await lead(browser, await client.begin(essentialAcr({ value: 'aal2' })));
      foyer.passTime(minuteMs);
      await browser.post('/sign-in', { username: user.email, password });
      const again = new URL(await home(browser, `${foyer.url}/verify-user${tab.search}`));
      expect(again.searchParams.has('code')).toBe(false);
      await askedAgain(browser, again);
    });
  });

  describe('the rest of the claims parameter', () => {
    it('A user other than the one that the claim sub names gets login_required', async () => {
      const [user, other] = [await foyer.addUser(), await foyer.addUser()];
      const browser = await foyer.signedIn(user);
      const wanted = (id: string) => ({ claims: JSON.stringify({ id_token: { sub: { value: id } } }) });
      expect((await atOnce(browser, wanted(user.id))).claims()?.sub).toBe(user.id);
      expect(await errorOf(browser, { prompt: 'none', ...wanted(other.id) })).toBe('login_required');
      const landing = await lead(browser, await client.begin(wanted(other.id)));
      foyer.passTime(1000);
      const at = locationOf(await browser.post(`/sign-in${landing.search}`, { username: user.email, password }));
      expect(new URL(await home(browser, at)).searchParams.get('error')).toBe('login_required');
    });

    it('Other requested claims are ignored and give no more data about the user', async () => {
      const browser = await foyer.signedIn(await foyer.addUser());
      const claims = {
        id_token: { phone_number: { essential: true }, 'custom:jobTitle': null },
        userinfo: { address: null },
      };
      const begun = await client.begin({ scope: 'openid', claims: JSON.stringify(claims) });
      const tokens = await client.redeem((await lead(browser, begun)).href, begun);
      expect(Object.keys(tokens.claims() ?? {})).not.toEqual(expect.arrayContaining(['phone_number']));
      const info = await oidc.fetchUserInfo(client.config, tokens.access_token, tokens.claims()?.sub ?? '');
      expect(Object.keys(info)).toEqual(['sub']);
    });

    it.each(['{', '[]', '{}', '{"id_token":1}', '"x"'])(
      'The claims parameter %s gets invalid_request',
      async (claims) => {
        const browser = await foyer.signedIn(await foyer.addUser());
        expect(await errorOf(browser, { claims })).toBe('invalid_request');
      },
    );

    it.each(['{"id_token":{"acr":"aal2"}}', '{"id_token":{"acr":{"essential":"yes","values":"aal2"}}}'])(
      'The claims parameter %s gives no higher acr than the sign-in has',
      async (claims) => {
        const browser = await foyer.signedIn(await foyer.addUser());
        expect(how(await atOnce(browser, { claims })).acr).toBe('aal1');
      },
    );
  });
});
