import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';

type Fields = Record<string, string>;

/** Requests of modules of the Basic OP plan as the suite sends them: without PKCE, with the scope openid. */
describe('modules of the Basic OP plan', () => {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  let client: Awaited<ReturnType<TestFoyer['addClient']>>;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
    user = await foyer.addUser({ phone: '+4915112345678' });
    browser = await foyer.signedIn(user);
    const scopes = ['openid', 'profile', 'email', 'phone', 'address', 'offline_access'];
    client = await foyer.addClient({ pkceOptional: true, nonceOptional: true, claimsWithoutScope: true, scopes });
  });
  afterAll(() => foyer?.close());

  async function ask(change: Fields = {}, from = browser): Promise<URLSearchParams> {
    const common = { client_id: client.id, redirect_uri: client.redirectUri, state: 's-1', nonce: 'n-1' };
    const query = new URLSearchParams({ ...common, response_type: 'code', scope: 'openid', ...change });
    return new URL(locationOf(await from.get(`/oauth2/authorize?${query}`, { from: 'cross-site' }))).searchParams;
  }
  async function redeem(code: string | null, inBody = false): Promise<{ status: number; body: Fields }> {
    const headers: Fields = inBody ? {} : { authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` };
    const fields = { grant_type: 'authorization_code', code: code ?? '', redirect_uri: client.redirectUri };
    const secret = { client_id: client.id, client_secret: client.secret ?? '' };
    const body = new URLSearchParams({ ...fields, ...(inBody && secret) });
    const answer = await sendRequest(`${foyer.url}/oauth2/token`, { method: 'POST', headers, body });
    return { status: answer.status, body: (await answer.json()) as Fields };
  }
  async function signIn(change: Fields = {}) {
    const sent = await ask(change);
    const { body } = await redeem(sent.get('code'));
    const headers = { authorization: `Bearer ${body.access_token}` };
    const info = (await (await sendRequest(`${foyer.url}/oauth2/userInfo`, { headers })).json()) as Fields;
    return { state: sent.get('state'), idToken: body.id_token ?? '', claims: decodeJwt(body.id_token ?? ''), info };
  }

  it('oidcc-server and oidcc-idtoken-signature: a bare request gives an id token with RS256, kid, nonce and state', async () => {
    const { state, idToken, claims } = await signIn();
    expect([state, claims.nonce, claims.sub]).toEqual(['s-1', 'n-1', user.id]);
    expect(decodeProtectedHeader(idToken)).toMatchObject({ alg: 'RS256', kid: expect.any(String) });
  });

  it('oidcc-ensure-request-without-nonce-succeeds-for-code-flow: the id token has no nonce', async () => {
    expect((await signIn({ nonce: '' })).claims).not.toHaveProperty('nonce');
  });

  it('oidcc-server-client-secret-post: the secret in the body is accepted', async () => {
    expect((await redeem((await ask()).get('code'), true)).status).toBe(200);
  });

  it('oidcc-codereuse: a code that is used again is refused with invalid_grant', async () => {
    const code = (await ask()).get('code');
    expect((await redeem(code)).status).toBe(200);
    const again = await redeem(code);
    expect([again.status, again.body.error]).toEqual([400, 'invalid_grant']);
  });

  it.each([
    ['oidcc-scope-email', 'openid email', ['email', 'email_verified']],
    ['oidcc-scope-phone', 'openid phone', ['phone_number', 'phone_number_verified']],
  ])('%s: the claims are at userinfo and not in the id token', async (_module, scope, names) => {
    const { claims, info } = await signIn({ scope });
    for (const name of names) {
      expect(info).toHaveProperty(name);
      expect(claims).not.toHaveProperty(name);
    }
  });

  it('oidcc-claims-essential: the name is at userinfo and not in the id token', async () => {
    const { claims, info } = await signIn({ claims: JSON.stringify({ userinfo: { name: { essential: true } } }) });
    expect(info).toHaveProperty('name');
    expect(claims).not.toHaveProperty('name');
  });

  it('oidcc-prompt-none-not-logged-in: a visitor without a session gets login_required', async () => {
    expect((await ask({ prompt: 'none' }, foyer.browser())).get('error')).toBe('login_required');
  });

  it.each([
    ['oidcc-prompt-none-logged-in', { prompt: 'none' }],
    ['oidcc-max-age-10000', { max_age: '10000' }],
    ['oidcc-ensure-request-with-unknown-parameter-succeeds', { extra: 'foobar' }],
    ['oidcc-ui-locales', { ui_locales: 'se' }],
    ['oidcc-claims-locales', { claims_locales: 'se' }],
    ['oidcc-display-page', { display: 'page' }],
    ['oidcc-display-popup', { display: 'popup' }],
    ['oidcc-ensure-request-with-acr-values-succeeds', { acr_values: '1 2' }],
  ])('%s: the request gives a code', async (_module, change) => {
    expect((await redeem((await ask(change as Fields)).get('code'))).status).toBe(200);
  });
});
