import * as oidc from 'openid-client';
import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { codeFor, newPassword, otherThan, reset } from './steps.ts';

interface Problem {
  status: number;
  detail: string;
  flow?: string;
  errors?: { name: string; detail: string }[];
}

describe.each(backends)('the JSON calls for passwords on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '1000' });
  });
  beforeEach(() =>
    foyer.deps.kv.delete(
      ...['forgotPassword', 'forgotPasswordSubmit', 'changePassword'].map((id) => `rate:api:${id}:127.0.0.1`),
    ),
  );
  afterAll(() => foyer?.close());

  /** As a client app's server calls: no cookies, no page. */
  async function call(path: string, body: object, headers: Record<string, string> = {}) {
    const answer = await sendRequest(foyer.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Problem };
  }
  const signsIn = async (user: User, given: string) =>
    (await foyer.browser().post('/sign-in', { username: user.email, password: given })).status === 303;

  describe('forgotten password', () => {
    const forgot = (username: string) => call('/identity/forgotPassword', { username });
    const submit = (flow: string, code: string, given = newPassword) =>
      call('/identity/forgotPasswordSubmit', { flow, code, newPassword: given });

    it('Flow and code set a new password, without a cookie', async () => {
      const user = await foyer.addUser();
      const asked = await forgot(user.email);
      expect(asked.body).toEqual({
        flow: expect.stringMatching(/^[\w-]{43}$/),
        deliveryMedium: 'EMAIL',
        expiresInSeconds: 600,
      });
      expect(asked.headers.getSetCookie()).toEqual([]);
      const flow = asked.body.flow ?? '';
      const code = await codeFor(foyer, user.email);
      expect(await submit(flow, otherThan(code))).toMatchObject({ status: 400, body: { detail: 'Invalid code' } });
      const short = await submit(flow, code, 'short1');
      expect(short).toMatchObject({ status: 400, body: { detail: 'The password needs at least 8 characters.' } });
      expect(short.body.errors?.[0]?.name).toBe('body.newPassword');
      expect(await submit(flow, code)).toMatchObject({ status: 200, body: { status: 'SUCCESS' } });
      expect(await submit(flow, code)).toMatchObject({
        status: 400,
        body: { detail: expect.stringContaining('has expired') },
      });
      expect([await signsIn(user, newPassword), await signsIn(user, password)]).toEqual([true, false]);
    });

    it('Refusals have the messages of the specification', async () => {
      expect(await forgot(' ')).toMatchObject({ status: 400, body: { detail: 'Please input your username!' } });
      expect(await forgot('unknown@example.com')).toMatchObject({
        status: 404,
        body: { detail: 'User does not exist.' },
      });
      const { id, email } = await foyer.addUser();
      await foyer.stores.database.db.updateTable('users').set({ disabledAt: 1 }).where('id', '=', id).execute();
      expect(await forgot(email)).toMatchObject({ status: 403, body: { detail: 'User is disabled.' } });
      expect(await call('/identity/forgotPassword', { username: 7 })).toMatchObject({ status: 400 });
      expect(await submit('made up', '123456')).toMatchObject({ status: 400 });
    });

    it('A code that a page requested is refused by the API', async () => {
      const user = await foyer.addUser();
      const codes = async () => (await foyer.mails(user.email)).map(({ values }) => String(values.code));
      const asked = await forgot(user.email);
      const [api = ''] = await codes();
      const browser = foyer.browser();
      await browser.post('/forgot-password', { username: user.email });
      // The two mails have no fixed order.
      const page = (await codes()).find((code) => code !== api);
      if (page !== undefined) expect(await submit(asked.body.flow ?? '', page)).toMatchObject({ status: 400 });
      expect(await submit(asked.body.flow ?? '', api)).toMatchObject({ status: 200 });
    });

    it('The call forgotPassword is limited per address, with Retry-After', async () => {
      const answers = [];
      for (let n = 0; n < 31; n += 1) answers.push(await forgot('unknown@example.com'));
      expect(answers.map(({ status }) => status).slice(-2)).toEqual([404, 429]);
      expect(Number(answers.at(-1)?.headers.get('retry-after'))).toBeGreaterThan(0);
    });
  });

  describe('change of the password', () => {
    const change = (browser: Browser, oldPassword: string, given = newPassword) =>
      browser.postJson('/identity/changePassword', { oldPassword, newPassword: given });
    const detailOf = async (answer: Response) => [answer.status, ((await answer.json()) as Problem).detail];

    it('A change by session keeps this browser under a new id and ends all other sessions and tokens', async () => {
      const user = await foyer.addUser();
      const app = await relyingParty(foyer, await foyer.addClient());
      const [here, elsewhere] = [await foyer.signedIn(user), foyer.browser()];
      const tokens = await tokensFor(app, elsewhere, user);
      const before = (await here.cookies()).foyer_session;
      const changed = await change(here, password);
      expect(changed.status).toBe(200);
      expect((await here.cookies()).foyer_session).not.toBe(before);
      expect((await here.get('/')).status).toBe(303);
      expect((await elsewhere.get('/')).status).toBe(200);
      await expect(oidc.fetchUserInfo(app.config, tokens.access_token, user.id)).rejects.toThrow();
      await expect(oidc.refreshTokenGrant(app.config, tokens.refresh_token ?? '')).rejects.toThrow();
      // The old id no longer works.
      const old = foyer.browser();
      await old.jar.setCookie(`foyer_session=${before}; Path=/`, foyer.url);
      expect((await old.get('/')).status).toBe(200);
      // Client apps get on silently from here.
      const silent = new URL(locationOf(await here.get((await app.begin({ prompt: 'none' })).url)));
      expect(silent.searchParams.get('code')).not.toBeNull();
      expect([await signsIn(user, newPassword), await signsIn(user, password)]).toEqual([true, false]);
      const mails = await foyer.mails(user.email);
      expect(mails.map(({ template }) => template)).toContain('password-changed');
    });

    it('A change by token ends everything, also the token itself', async () => {
      const user = await foyer.addUser();
      const app = await relyingParty(
        foyer,
        await foyer.addClient({ scopes: ['openid', 'account:security'] }),
        'openid account:security',
      );
      const browser = foyer.browser();
      const { access_token } = await tokensFor(app, browser, user);
      const headers = { authorization: `Bearer ${access_token}` };
      const body = { oldPassword: password, newPassword };
      expect(await call('/identity/changePassword', body, headers)).toMatchObject({ status: 200 });
      expect(await call('/identity/changePassword', body, headers)).toMatchObject({ status: 401 });
      expect((await browser.get('/')).status).toBe(200);
      expect(await signsIn(user, newPassword)).toBe(true);
    });

    it('A change needs the right old password and an allowed new one', async () => {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      const missing = 'Please enter both the old and the new password.';
      expect(await detailOf(await change(browser, '', newPassword))).toEqual([400, missing]);
      expect(await detailOf(await change(browser, password, ''))).toEqual([400, missing]);
      expect(await detailOf(await change(browser, 'not the old one 1'))).toEqual([
        400,
        'Incorrect email, phone number or password.',
      ]);
      expect((await detailOf(await change(browser, password, 'password1')))[1]).toContain('stolen passwords');
      expect((await detailOf(await change(browser, password, `${user.email} 1`)))[1]).toContain('must not contain');
      expect((await browser.get('/')).status).toBe(303);
      expect(await signsIn(user, password)).toBe(true);
    });

    it('Attack: guessing the old password in a session or by token is limited as at the sign-in', async () => {
      const user = await foyer.addUser();
      const app = await relyingParty(
        foyer,
        await foyer.addClient({ scopes: ['openid', 'account:security'] }),
        'openid account:security',
      );
      const { access_token } = await tokensFor(app, foyer.browser(), user);
      const headers = { authorization: `Bearer ${access_token}` };
      const statuses = [];
      for (let n = 0; n < 12; n += 1) {
        const answer = await call('/identity/changePassword', { oldPassword: `guess ${n}`, newPassword }, headers);
        statuses.push(answer.status);
      }
      expect(statuses).toEqual([...Array.from({ length: 10 }, () => 400), 429, 429]);
      // Both routes share one counter, so another browser is refused too.
      const stranger = await foyer.browser().post('/sign-in', { username: user.email, password });
      expect(stranger.status).toBe(429);
    });

    it('Attack: a page of another site changes nothing', async () => {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      const body = { oldPassword: password, newPassword };
      const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
      expect((await browser.postJson('/identity/changePassword', body, foreign)).status).toBe(403);
      expect(await signsIn(user, password)).toBe(true);
    });

    it('Attack: of a concurrent change and reset one wins, and no session of the other remains', async () => {
      for (let round = 0; round < 3; round += 1) {
        const user = await foyer.addUser();
        const browser = await foyer.signedIn(user);
        const [changed, wasReset] = await Promise.allSettled([
          change(browser, password, 'changed by hand 4'),
          reset(foyer, foyer.browser(), user.email, 'reset by code 4'),
        ]);
        const signs = [await signsIn(user, 'changed by hand 4'), await signsIn(user, 'reset by code 4')];
        expect(signs.filter(Boolean)).toHaveLength(1);
        expect(await signsIn(user, password)).toBe(false);
        // A session that outlived the change is one that the change began, unless the reset came later.
        if (signs[1]) expect((await browser.get('/')).status).toBe(200);
        expect([changed.status, wasReset.status]).toContain('fulfilled');
      }
    });
  });
});
