import { withDefaultClient } from '../oidc/token-cookie-tools.ts';
import { hiddenField } from '../support/devices.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { production, site } from './production.ts';
import { portOf, Visitor } from './wire.ts';

const sibling = 'https://shop.example.com/';

/**
 * A sibling of the domain that `COOKIE_DOMAIN` names writes cookies of that domain into a victim's browser, with every name
 * that Foyer has (`security.md`, rule 8). It may know everything in the attacker's own browser.
 */
describe.each(backends)('cookies tossed by a sibling with COOKIE_DOMAIN, on $name', (backend) => {
  let foyer: TestFoyer;
  let client: { id: string; redirectUri: string };
  beforeAll(async () => {
    foyer = await startFoyer(backend, { ...production, COOKIE_DOMAIN: 'example.com' });
    await withDefaultClient(foyer);
    client = await foyer.addClient({ redirectUris: ['https://app.example.net/callback'] });
  });
  afterAll(() => foyer?.close());

  let visitors = 0;
  const visitor = () => {
    visitors += 1;
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': `192.0.2.${visitors}` };
    return new Visitor(portOf(foyer.url), site, headers);
  };
  const signedIn = async (who: Visitor, search = '') => {
    const user = await foyer.addUser();
    const answer = await who.post(`/sign-in${search}`, { username: user.email, password });
    expect(answer.status).toBe(303);
    return { user, to: String(answer.headers.location) };
  };
  const who = async (visit: Visitor): Promise<unknown> =>
    JSON.parse((await visit.get('/user/info', { accept: 'application/json', 'sec-fetch-site': 'same-origin' })).text)
      .sub;

  const authorize = (more: Record<string, string> = {}) =>
    `/oauth2/authorize?${new URLSearchParams({
      client_id: client.id,
      redirect_uri: client.redirectUri,
      response_type: 'code',
      scope: 'openid',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
      state: 'the attacker’s',
      ...more,
    })}`;

  /**
   * Every cookie that the sibling can write: each name with and without its prefix, for the whole domain and for one
   * path.
   */
  async function toss(from: Visitor, into: Visitor): Promise<number> {
    let kept = 0;
    for (const { key, value, path } of await from.jar.getCookies(`${site}/oauth2/authorize/x`, { allPaths: true })) {
      for (const name of new Set([key, key.replace('__Host-', ''), key.replace('__Host-', '__host-')])) {
        for (const at of new Set(['/', path ?? '/', '/oauth2'])) {
          const line = `${name}=${value}; Domain=example.com; Path=${at}; Secure`;
          if (await into.jar.setCookie(line, sibling, { ignoreError: true })) kept += 1;
        }
      }
    }
    return kept;
  }

  it('Tossed cookies sign the victim’s browser in as no user, neither as the attacker nor as another', async () => {
    const [attacker, victim] = [visitor(), visitor()];
    await signedIn(attacker);
    expect(await toss(attacker, victim)).toBeGreaterThan(5);
    expect((await victim.get('/')).status).toBe(200);
    expect((await victim.get('/user/info', { 'sec-fetch-site': 'same-origin' })).status).toBe(401);
    expect(String((await victim.get(authorize({ prompt: 'none' }))).headers.location)).toContain(
      'error=login_required',
    );
  });

  it('Tossed cookies fixate no session: the victim signs in as themselves, and the attacker stays the attacker', async () => {
    const [attacker, victim] = [visitor(), visitor()];
    const mallory = await signedIn(attacker);
    await toss(attacker, victim);
    const { user } = await signedIn(victim);
    expect([await who(victim), await who(attacker)]).toEqual([user.id, mallory.user.id]);
    // Siblings now read the victim's cookies again.
    const shared = await victim.jar.getCookies(sibling);
    const idToken = shared.filter(({ key, path }) => key === 'foyer_id_token' && path === '/');
    expect(
      idToken.map(({ value }) => JSON.parse(Buffer.from(value.split('.')[1] ?? '', 'base64url').toString()).sub),
    ).toEqual([user.id]);
  });

  it('Tossed cookies change nothing for a signed-in user or for what a client app gets', async () => {
    const [attacker, victim] = [visitor(), visitor()];
    const { user } = await signedIn(victim);
    await signedIn(attacker);
    await toss(attacker, victim);
    expect(await who(victim)).toBe(user.id);
    expect(String((await victim.get(authorize())).headers.location)).toMatch(
      /^https:\/\/app\.example\.net\/callback\?code=/,
    );
    await victim.post('/logout', {});
    expect((await victim.get('/')).status).toBe(200);
    expect(await victim.jar.getCookieString(`${site}/`)).not.toMatch(/__Host-foyer_session=[^;]/);
  });

  it('Tossed cookies neither give the victim the attacker’s request nor the attacker the victim’s answer', async () => {
    const [attacker, victim] = [visitor(), visitor()];
    const landing = String((await attacker.get(authorize({ prompt: 'login' }))).headers.location);
    const { search } = new URL(landing, site);
    const id = new URLSearchParams(search).get('authorization_code') ?? '';
    await toss(attacker, victim);
    const { user } = await signedIn(victim, search);
    for (const path of ['/verify-user', '/consent', '/begin-again']) {
      const answer = await victim.get(`${path}${search}`);
      expect([path, answer.status, answer.text.includes('http-equiv="refresh"')]).toEqual([path, 403, false]);
    }
    expect((await victim.post('/storage', { authorization_code: id })).status).toBe(403);
    // The request was not completed: the attacker's browser has no session and gets the sign-in page.
    const resumed = await attacker.get(`/oauth2/authorize/${id}`);
    expect(String(resumed.headers.location)).not.toMatch(/[?&]code=/);
    expect((await attacker.get('/')).status).toBe(200);
    expect(await who(victim)).toBe(user.id);
  });

  it('The provider’s own cookie, which has no prefix, resumes no request that another user answered', async () => {
    const [attacker, victim] = [visitor(), visitor()];
    const landing = String((await attacker.get(authorize({ prompt: 'login' }))).headers.location);
    const { search } = new URL(landing, site);
    const id = new URLSearchParams(search).get('authorization_code') ?? '';
    foyer.passTime(1_000);
    await signedIn(attacker, search);
    expect((await attacker.post('/storage', { authorization_code: id })).status).toBe(200);
    const { user } = await signedIn(victim);
    await toss(attacker, victim);
    const answer = await victim.get(`/oauth2/authorize/${id}`);
    expect([answer.status, answer.headers.location]).toEqual([400, undefined]);
    expect(await who(victim)).toBe(user.id);
  });

  it('The attacker’s consent does not count for the victim, whatever address resumes the request', async () => {
    const [attacker, victim] = [visitor(), visitor()];
    const { id, redirectUri } = await foyer.addClient({
      thirdParty: true,
      redirectUris: ['https://partner.example.net/callback'],
    });
    await signedIn(attacker);
    const { user } = await signedIn(victim);
    const asked = String(
      (await attacker.get(authorize({ client_id: id, redirect_uri: redirectUri }))).headers.location,
    );
    expect(new URL(asked, site).pathname).toBe('/consent');
    const uid = new URL(asked, site).searchParams.get('authorization_code') ?? '';
    expect((await attacker.post('/consent', { authorization_code: uid, decision: 'allow' })).status).toBe(200);
    await toss(attacker, victim);
    // The library finds the interaction by its cookie alone, whatever the address says.
    for (const path of [`/oauth2/authorize/${uid}`, '/oauth2/authorize/elsewhere', `/oauth2/authorize/%${uid}`]) {
      const answer = await victim.get(path);
      expect([path, answer.status, answer.headers.location]).toEqual([path, 400, undefined]);
    }
    expect(await who(victim)).toBe(user.id);
    const silent = await victim.get(authorize({ client_id: id, redirect_uri: redirectUri, prompt: 'none' }));
    expect(String(silent.headers.location)).toContain('error=consent_required');
  });

  it('A device code that the attacker confirmed without signing in does not connect the victim’s account', async () => {
    const [attacker, victim] = [visitor(), visitor()];
    const { id } = await foyer.addClient({ device: true, public: true, redirectUris: [], scopes: ['openid'] });
    const { user } = await signedIn(victim);
    const outside = { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-proto': 'https' };
    const call = async (path: string, fields: Record<string, string>) =>
      JSON.parse(
        (
          await new Visitor(portOf(foyer.url), site).send(path, {
            method: 'POST',
            headers: { ...outside, accept: 'application/json' },
            body: new URLSearchParams({ client_id: id, ...fields }).toString(),
          })
        ).text,
      );
    const { user_code, device_code } = await call('/oauth2/device_authorization', { scope: 'openid' });
    const form = hiddenField((await attacker.get('/oauth2/device')).text, 'xsrf');
    const typed = await attacker.post('/oauth2/device', { xsrf: form, user_code });
    const fields = { xsrf: hiddenField(typed.text, 'xsrf'), user_code, confirm: 'yes' };
    const asked = new URL(String((await attacker.post('/oauth2/device', fields)).headers.location), site);
    expect(asked.pathname).toBe('/');
    await toss(attacker, victim);
    const answer = await victim.get(`/oauth2/device/${asked.searchParams.get('authorization_code')}`);
    expect([answer.status, answer.headers.location]).toEqual([403, undefined]);
    const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
    expect(await call('/oauth2/token', { grant_type, device_code })).toMatchObject({ error: 'authorization_pending' });
    expect(await who(victim)).toBe(user.id);
  });

  it('A request with too many tossed cookies gets a plain 431 without a redirect', async () => {
    const victim = visitor();
    await signedIn(victim);
    for (let n = 0; n < 60; n += 1) {
      await victim.jar.setCookie(`junk${n}=${'x'.repeat(300)}; Domain=example.com; Secure`, sibling);
    }
    const answer = await victim.get('/');
    expect([answer.status, answer.headers.location]).toEqual([431, undefined]);
  });
});
