import { refreshTokenGrant } from 'openid-client';
import { sessionIdHash, sessionKey } from '../../server/sessions/session.ts';
import { findUser, type User } from '../../server/users/index.ts';
import { link } from '../account/provider-steps.ts';
import { appCode, giveTotp, show, textedCode } from '../sign-in/factor-steps.ts';
import { codeFor } from '../sign-up/steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toNormalisedEmail, toSessionId } from '../support/ids.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { type RelyingParty, refreshOf, relyingParty, store, tokensFor } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';
import { answerOf, comeBy, type Kind, memberBy, type Person, pathOf, somebody } from './steps.ts';

/** Foyer asks Google users as usual, trusts the factor of SAML, and requires a factor for the others. */
const secondFactors = { 'acme-saml': 'sufficient', 'acme-oidc': 'required' } as Record<string, string>;

/** The address to which the form below new recovery codes leads. */
function addressAfter(html: string): string {
  const plain = html.replaceAll('&amp;', '&');
  const [, head = '', fields = ''] = /<form([^>]*data-leaves[^>]*)>(.*?)<\/form>/s.exec(plain) ?? [];
  const [, action = ''] = / action="([^"]*)"/.exec(head) ?? [];
  const address = new URL(action);
  for (const [, name = '', value = ''] of fields.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g))
    address.searchParams.append(name, value);
  return address.href;
}

describe('second factor of users by a provider', () => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  let client: RelyingParty;
  beforeAll(async () => {
    providers = await startProviders();
    const environment = providers.environment((file) => ({
      ...file,
      facebook: { secondFactor: 'required' },
      providers: file.providers.map((one) => ({ ...one, secondFactor: secondFactors[String(one.id)] })),
    }));
    foyer = await startFoyer(anyBackend, { ...environment, GUESS_LIMIT_ADDRESS: '1000' });
    client = await relyingParty(foyer, await foyer.addClient({ idTokenClaims: true }));
  });
  afterAll(async () => {
    await foyer?.close();
    await providers?.close();
  });

  const path = (answer: Response) => pathOf(foyer, answer);
  const current = async ({ id }: User) => findUser(foyer.stores.database.db, id);
  const hasSession = async (browser: Browser) => (await browser.get('/settings')).status === 200;
  async function sessionOf(browser: Browser) {
    const { foyer_session: cookie = '' } = await browser.cookies();
    const id = decodeURIComponent(cookie).replace(/^s:/, '').split('.')[0] ?? '';
    return JSON.parse((await foyer.deps.kv.get(sessionKey(sessionIdHash(toSessionId(id))))) ?? '{}').user;
  }
  const acceptTerms = async (email = '') => {
    const set = { acceptedTosVersion: foyer.deps.terms.number };
    await foyer.stores.database.db
      .updateTable('users')
      .set(set)
      .where('email', '=', toNormalisedEmail(email))
      .execute();
  };
  /** Signs in by a provider for a client app; returns the redirect after the answer of the provider. */
  async function comeFor(browser: Browser, kind: Kind, who: Person, parameters: Record<string, string> = {}) {
    const begun = await client.begin(parameters);
    const { search } = new URL(locationOf(await browser.get(begun.url, { from: 'cross-site' })));
    return { begun, search, at: path(await comeBy(providers, browser, kind, who, { search })) };
  }
  async function claims(browser: Browser, begun: Awaited<ReturnType<RelyingParty['begin']>>, verifyUser: string) {
    const home = locationOf(await browser.get(await store(browser, new URL(verifyUser, foyer.url).href)));
    return (await client.redeem(home, begun)).claims();
  }

  describe('ask', () => {
    it('A user with a second factor is asked for it as after a password, and the client gets both in amr', async () => {
      const { user, who } = await memberBy(foyer, providers, 'google');
      const secret = await giveTotp(foyer, user);
      const browser = foyer.browser();
      const { begun, search, at } = await comeFor(browser, 'google', who);
      expect(at).toBe(`/second-factor${search}`);
      expect(await hasSession(browser)).toBe(false);
      const on = path(await show(browser, await appCode(foyer, secret), {}, search));
      expect(await sessionOf(browser)).toMatchObject({ userId: user.id, upstream: { provider: 'google' } });
      expect(on).toBe(`/verify-user${search}`);
      expect(await claims(browser, begun, on)).toMatchObject({ sub: user.id, amr: ['fed', 'otp', 'mfa'], acr: 'aal2' });
    });

    it('A remembered device is not asked again, unless the client requests aal2', async () => {
      const { user, who } = await memberBy(foyer, providers, 'google');
      const secret = await giveTotp(foyer, user);
      const browser = foyer.browser();
      await comeBy(providers, browser, 'google', who);
      await show(browser, await appCode(foyer, secret), { rememberDevice: '1' });
      await browser.post('/logout');
      foyer.passTime(60_000);
      const { begun, at } = await comeFor(browser, 'google', who);
      expect(await claims(browser, begun, at)).toMatchObject({ amr: ['fed'], acr: 'aal1' });
      await browser.post('/logout');
      foyer.passTime(60_000);
      expect((await comeFor(browser, 'google', who, { acr_values: 'aal2' })).at).toMatch(/^\/second-factor\?/);
    });

    it('A user without a second factor is not asked, and the client gets amr fed and acr aal1', async () => {
      const { user, who } = await memberBy(foyer, providers, 'google');
      const browser = foyer.browser();
      const { begun, at } = await comeFor(browser, 'google', who);
      expect(await claims(browser, begun, at)).toMatchObject({ sub: user.id, amr: ['fed'], acr: 'aal1' });
    });
  });

  it('With sufficient the provider’s second factor counts, and Foyer asks for none', async () => {
    const { user, who } = await memberBy(foyer, providers, 'saml');
    await giveTotp(foyer, user);
    const browser = foyer.browser();
    const { begun, at } = await comeFor(browser, 'saml', who, { acr_values: 'aal2' });
    expect(at).toMatch(/^\/verify-user/);
    expect(await claims(browser, begun, at)).toMatchObject({ sub: user.id, amr: ['fed', 'mfa'], acr: 'aal2' });
  });

  describe('required', () => {
    it('The second factor is set up before anything else; then the waiting client gets its code', async () => {
      const who = somebody(providers, 'oidc');
      const browser = foyer.browser();
      const { begun, search, at } = await comeFor(browser, 'oidc', who);
      expect(at).toMatch(/^\/tos\?/);
      await acceptTerms(who.email);
      // No page skips the set-up, and no redirect loops.
      const mfa = path(await browser.get(`/${search}`));
      expect(mfa).toBe(`/settings/mfa?${new URLSearchParams({ redirect: `${foyer.url}/verify-user${search}` })}`);
      expect(path(await browser.get('/settings'))).toMatch(/^\/settings\/mfa\?/);
      expect(path(await browser.get('/settings/password'))).toMatch(/^\/settings\/mfa\?/);
      const silent = await client.begin({ prompt: 'none' });
      const refused = new URL(locationOf(await browser.get(silent.url, { from: 'cross-site' })));
      expect(refused.searchParams.get('error')).toBe('interaction_required');
      const stored = await browser.postJson('/storage', {
        authorization_code: new URLSearchParams(search).get('authorization_code'),
      });
      expect(JSON.stringify(await stored.json())).toContain('/settings/mfa');

      const page = await (await browser.get(mfa)).text();
      expect(page).toContain('Two-step verification required');
      expect(page).not.toContain('value="none"');
      // A visit to another settings page does not replace the waiting request.
      await browser.get(path(await browser.get('/settings')));
      expect(path(await browser.post('/settings/mfa', { method: 'totp' }))).toBe('/settings/mfa/totp/scan');
      const scan = await (await browser.get('/settings/mfa/totp/scan')).text();
      const secret =
        /secret=([A-Z2-7]+)/.exec(scan)?.[1] ?? /<code[^>]*>([A-Z2-7 ]+)</.exec(scan)?.[1]?.replaceAll(' ', '');
      const activated = await browser.post('/settings/mfa/totp/activate', { code: await appCode(foyer, secret ?? '') });
      expect(path(activated)).toBe('/settings/recovery-codes');
      const codes = await (await browser.get('/settings/recovery-codes')).text();
      expect(addressAfter(codes)).toBe(new URL(`/verify-user${search}`, foyer.url).href);
      expect(await claims(browser, begun, `/verify-user${search}`)).toMatchObject({
        amr: ['fed', 'otp', 'mfa'],
        acr: 'aal2',
      });
      expect((await browser.get('/settings')).status).toBe(200);
      expect(await sessionOf(browser)).toMatchObject({ upstream: { provider: 'acme-oidc' } });
    });

    it('A second factor by text message can be set up, with the phone number verified on the way', async () => {
      const { user, who } = await memberBy(foyer, providers, 'oidc');
      const browser = foyer.browser();
      const mfa = path(await comeBy(providers, browser, 'oidc', who, { search: '?redirect=%2Ftos%3Fx%3D1' }));
      expect((await browser.get(mfa)).status).toBe(200);
      const phone = '+4915112349999';
      expect((await browser.get('/settings/phone')).status).toBe(200);
      expect(path(await browser.post('/settings/phone', { phone_number: phone }))).toBe('/settings/phone/code');
      const home = path(await browser.post('/settings/phone/code', { code: await textedCode(foyer, phone) }));
      expect(home).toMatch(/^\/settings#/);
      expect((await browser.get(path(await browser.get(home)))).status).toBe(200);
      expect(path(await browser.post('/settings/mfa', { method: 'sms' }))).toBe('/settings/mfa/sms');
      expect(path(await browser.post('/settings/mfa/sms'))).toBe('/settings/mfa/sms/code');
      const done = await browser.post('/settings/mfa/sms/code', { code: await textedCode(foyer, phone) });
      expect(path(done)).toBe('/settings/recovery-codes');
      const codes = await (await browser.get('/settings/recovery-codes')).text();
      expect(addressAfter(codes)).toBe(`${foyer.url}/tos?x=1`);
      expect(await current(user)).toMatchObject({ mfaPreference: 'sms', phone });
    });

    it('Attack: no API call bypasses the required set-up, by session or by an older token', async () => {
      const [user, who] = [await foyer.addUser(), somebody(providers, 'oidc')];
      const before = await foyer.signedIn(user);
      const app = await relyingParty(foyer, await foyer.addClient({ scopes: ['openid', 'account'] }), 'openid account');
      const { access_token: token, refresh_token: refresh = '' } = await tokensFor(app, before, user);
      expect((await before.get('/user/info', { from: 'same-origin' })).status).toBe(200);
      await link(providers, before, 'oidc', who);
      const browser = foyer.browser();
      await comeBy(providers, browser, 'oidc', who);
      const calls: [string, () => Promise<Response>][] = [
        ['the session', () => browser.get('/user/info', { from: 'same-origin' })],
        ['another address', () => browser.postJson('/identity/changeEmail', { email: 'thief@example.com' })],
        ['a session from before', () => before.get('/user/info', { from: 'same-origin' })],
        ['a token', () => foyer.browser().get('/user/info', { headers: { authorization: `Bearer ${token}` } })],
      ];
      for (const [what, call] of calls) expect([what, (await call()).status]).toEqual([what, 403]);
      // The client app has to let the member sign in, who is led to set it up; then what it had is good again.
      const renewed = () => refreshTokenGrant(app.config, refresh);
      await expect(renewed()).rejects.toMatchObject({ error: 'invalid_grant' });
      const setUp = await browser.postJson('/identity/setupTOTP', {});
      expect(setUp.status).toBe(200);
      await giveTotp(foyer, user);
      expect((await renewed()).refresh_token).toEqual(expect.any(String));
    });

    it('A required second factor cannot be turned off, neither on the page nor by an API call', async () => {
      const { user, who } = await memberBy(foyer, providers, 'oidc');
      const secret = await giveTotp(foyer, user);
      const browser = foyer.browser();
      await comeBy(providers, browser, 'oidc', who);
      await show(browser, await appCode(foyer, secret));
      const page = await browser.post('/settings/mfa', { method: 'none' });
      expect([page.status, await page.text()]).toEqual([400, expect.stringContaining('you can’t turn it off')]);
      const call = await browser.postJson('/identity/preferredMFA', { preferredMFA: 'NOMFA' });
      expect([call.status, await call.text()]).toEqual([409, expect.stringContaining('you can’t turn it off')]);
      expect(await current(user)).toMatchObject({ mfaPreference: 'totp', secondFactorRequired: true });
    });

    it('A user who must authenticate again during the set-up returns to the same page', async () => {
      const { user, who } = await memberBy(foyer, providers, 'oidc');
      const browser = foyer.browser();
      await comeBy(providers, browser, 'oidc', who);
      foyer.passTime(11 * 60_000);
      const again = path(await browser.get('/settings/mfa/totp'));
      expect(again).toBe(`/re-authenticate?${new URLSearchParams({ redirect: '/settings/mfa/totp' })}`);
      expect((await browser.get(again)).status).toBe(200);
      const { search } = new URL(again, foyer.url);
      const leading = await browser.post(`/re-authenticate/provider/acme-oidc${search}`);
      const back = await answerOf(providers, 'oidc', who, refreshOf(await leading.text()));
      expect(path(await browser.get(back, { from: 'cross-site' }))).toBe('/settings/mfa/totp');
      expect((await browser.get('/settings/mfa/totp')).status).toBe(200);
      expect(await current(user)).toMatchObject({ mfaPreference: 'none' });
    });

    it('A user with an unconfirmed address must set it up too, after the address is confirmed', async () => {
      const grace = somebody(providers, 'facebook');
      const browser = foyer.browser();
      await comeBy(providers, browser, 'facebook', grace);
      await browser.post('/verify-code', { code: await codeFor(foyer, grace.email ?? '') });
      await acceptTerms(grace.email);
      expect(path(await browser.get('/settings'))).toMatch(/^\/settings\/mfa\?/);
    });

    it('The requirement ends at the next sign-in after the operator removed it', async () => {
      const { user, who } = await memberBy(foyer, providers, 'google');
      const { db } = foyer.stores.database;
      await db.updateTable('users').set({ secondFactorRequired: 1 }).where('id', '=', user.id).execute();
      const browser = foyer.browser();
      await comeBy(providers, browser, 'google', who);
      expect(await current(user)).toMatchObject({ secondFactorRequired: false });
      expect((await browser.get('/settings')).status).toBe(200);
    });
  });
});
