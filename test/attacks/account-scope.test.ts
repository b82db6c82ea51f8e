import { findClient, updateClient } from '../../server/oidc/index.ts';
import { findUser, type User } from '../../server/users/index.ts';
import { fresh } from '../account/contact/steps.ts';
import { giveTotp, memberWithTotp, signInWithTotp, stepMs } from '../sign-in/factor-steps.ts';
import type { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toClientId } from '../support/ids.ts';
import { relyingParty, signInFor, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

/** The calls that change how a user signs in, with input that the former API accepted. */
const takeovers: Record<string, () => object> = {
  changeEmail: () => ({ email: fresh().email }),
  changePhone: () => ({ phone_number: fresh().phone }),
  verifyUserAttribute: () => ({ attribute: 'email', flow: 'x'.repeat(43), code: '123456' }),
  changePassword: () => ({ oldPassword: password, newPassword: 'taken over by an app 7' }),
  preferredMFA: () => ({ preferredMFA: 'NOMFA' }),
  setupTOTP: () => ({}),
  verifyTOTPToken: () => ({ flow: 'x'.repeat(43), code: '123456' }),
};

describe.each(backends)('account takeover by a client app with the scope account, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  const call = (token: string, name: string, body: object) =>
    sendRequest(`${foyer.url}/identity/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    });
  /** The user allows the app on the consent page. @returns the access token of this fresh sign-in */
  const consented = async (browser: Browser, user: User, client: Parameters<TestFoyer['addClient']>[0]) => {
    const scope = 'openid account';
    const app = await relyingParty(foyer, await foyer.addClient({ scopes: scope.split(' '), ...client }), scope);
    return (await tokensFor(app, browser, user)).access_token;
  };
  const rowOf = (user: User) =>
    foyer.deps.database.db.selectFrom('users').selectAll().where('id', '=', user.id).executeTakeFirstOrThrow();

  const apps = [
    ['third-party app with consent', { thirdParty: true }],
    ['public app in the browser', { public: true }],
    ['native app', { native: true, redirectUris: ['com.example.app:/callback'] }],
    ['confidential app of the marketplace', {}],
  ] as const;

  it.each(apps)(
    'A %s gets 403 at every call that changes a credential; nothing changes and no mail is sent',
    async (_name, client) => {
      const { user, secret } = await memberWithTotp(foyer);
      const browser = foyer.browser();
      await signInWithTotp(foyer, browser, user, secret);
      const token = await consented(browser, user, client as object);
      const [before, mails] = [await rowOf(user), (await foyer.mails(user.email)).length];
      const answers: unknown[] = [];
      for (const [name, body] of Object.entries(takeovers)) {
        const answer = await call(token, name, body());
        answers.push([name, answer.status, answer.headers.get('www-authenticate'), await answer.json()]);
      }
      expect(answers).toEqual(
        Object.keys(takeovers).map((name) => [
          name,
          403,
          'Bearer realm="api", error="insufficient_scope", scope="account:security"',
          expect.objectContaining({ type: 'urn:foyer:problem:insufficientScope' }),
        ]),
      );
      expect(await rowOf(user)).toEqual(before);
      expect((await foyer.mails(user.email)).length).toBe(mails);
      // The user's factor and password still work, and the app still reads the record.
      foyer.passTime(stepMs);
      await signInWithTotp(foyer, foyer.browser(), user, secret);
      const read = await sendRequest(`${foyer.url}/user/info`, { headers: { authorization: `Bearer ${token}` } });
      expect([read.status, (await findUser(foyer.deps.database.db, user.id))?.email]).toEqual([200, user.email]);
    },
  );
  it('A confidential app with account:security changes credentials only after a recent sign-in with the second factor', async () => {
    const scope = 'openid account:security';
    const app = await relyingParty(foyer, await foyer.addClient({ scopes: scope.split(' ') }), scope);
    const { user, secret } = await memberWithTotp(foyer);
    const browser = foyer.browser();
    await signInWithTotp(foyer, browser, user, secret);
    const token = (await tokensFor(app, browser, user)).access_token;
    expect((await call(token, 'setupTOTP', {})).status).toBe(200);
    foyer.passTime(11 * 60_000);
    const late = await call(token, 'setupTOTP', {});
    expect([late.status, late.headers.get('www-authenticate'), await late.json()]).toEqual([
      401,
      'Bearer realm="api", error="insufficient_user_authentication", error_description="a more recent authentication is needed", max_age=600',
      expect.objectContaining({ type: 'urn:foyer:problem:insufficientAuthentication' }),
    ]);
  });

  it('A token from before the second factor was turned on gets 401 with the required level and age', async () => {
    const scope = 'openid account:security';
    const app = await relyingParty(foyer, await foyer.addClient({ scopes: scope.split(' ') }), scope);
    const user = await foyer.addUser();
    const token = (await tokensFor(app, foyer.browser(), user)).access_token;
    const secret = await giveTotp(foyer, user);
    for (const [name, body] of Object.entries(takeovers)) {
      const refused = await call(token, name, body());
      expect([name, refused.status]).toEqual([name, 401]);
      expect(refused.headers.get('www-authenticate')).toBe(
        'Bearer realm="api", error="insufficient_user_authentication", error_description="the second factor is needed", acr_values="aal2", max_age=600',
      );
    }
    expect((await rowOf(user)).mfaPreference).toBe('totp');
    // A client app that requests the acr of the challenge gets a sufficient token.
    const browser = foyer.browser();
    await signInWithTotp(foyer, browser, user, secret);
    const begun = await app.begin({ acr_values: 'aal2', max_age: '600' });
    const stronger = await app.redeem(await signInFor(browser, begun, user), begun);
    expect((await call(stronger.access_token, 'setupTOTP', {})).status).toBe(200);
  });

  it('The scope account:security gives no access once its client has become third-party or public', async () => {
    const scope = 'openid account:security';
    const registered = await foyer.addClient({ scopes: scope.split(' ') });
    const app = await relyingParty(foyer, registered, scope);
    const user = await foyer.addUser();
    const token = (await tokensFor(app, foyer.browser(), user)).access_token;
    const { db } = foyer.deps.database;
    const client = await findClient(db, toClientId(registered.id));
    if (!client) throw new Error('no such client');
    for (const change of [
      { first_party: false },
      { token_endpoint_auth_method: 'none' as const },
      { application_type: 'native' as const, redirect_uris: ['com.example.app:/callback'] },
      { scope: 'openid' },
    ]) {
      await updateClient(db, { ...client, ...change }, { nowMs: foyer.deps.now() });
      expect([change, (await call(token, 'changeEmail', { email: fresh().email })).status]).toEqual([change, 403]);
    }
    await updateClient(db, client, { nowMs: foyer.deps.now() });
    expect((await call(token, 'changeEmail', { email: fresh().email })).status).toBe(200);
  });

  it('No call of the JSON API reaches passkeys or recovery codes with any token', async () => {
    const scope = 'openid account account:security account:payments';
    const app = await relyingParty(foyer, await foyer.addClient({ scopes: scope.split(' ') }), scope);
    const user = await foyer.addUser();
    const token = (await tokensFor(app, foyer.browser(), user)).access_token;
    const forms = ['passkeys/add', 'passkeys/rename', 'passkeys/remove', 'recovery-codes', 'devices/forget'];
    for (const path of forms.map((form) => `/settings/${form}`)) {
      for (const method of ['GET', 'POST']) {
        const answer = await sendRequest(foyer.url + path, {
          method,
          redirect: 'manual',
          headers: {
            authorization: `Bearer ${token}`,
            ...(method === 'POST' && { origin: foyer.url, 'sec-fetch-site': 'same-origin' }),
          },
          ...(method === 'POST' && { body: new URLSearchParams({ name: 'Thief', id: '1' }) }),
        });
        // A visitor is redirected to the sign-in page in the same way.
        expect([method, path, answer.status]).toEqual([method, path, 303]);
        expect(new URL(answer.headers.get('location') ?? '', foyer.url).pathname).toBe('/');
      }
    }
    const named = foyer.app.operations.filter(({ id, path }) => /passkey|recovery/i.test(id + path));
    expect(named).toEqual([]);
  });
});
