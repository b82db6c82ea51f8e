import * as oidc from 'openid-client';
import { loadJwks } from '../../server/oidc/index.ts';
import * as contact from '../account/contact/steps.ts';
import {
  appCode,
  giveRecoveryCodes,
  memberWithSms,
  memberWithTotp,
  show,
  toChallenge,
} from '../sign-in/factor-steps.ts';
import { begin, newAddress, newPassword } from '../sign-up/steps.ts';
import { locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toSealedText } from '../support/ids.ts';
import { loot } from '../support/loot.ts';
import { relyingParty, store } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

/** A call of a client app's server: no page and no origin. */
const asServer = { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' };

/** Every secret of a whole sign-in, by the name that a failure shows. */
async function secretsOfAJourney(foyer: TestFoyer): Promise<Record<string, string>> {
  const client = await foyer.addClient();
  const app = await relyingParty(foyer, client);
  const [user, browser] = [await foyer.addUser(), foyer.browser()];
  const secrets: Record<string, string> = { password, 'client secret': client.secret ?? '' };
  const seen = async (when: string) => {
    for (const [name, value] of Object.entries(await browser.cookies())) {
      const plain = decodeURIComponent(value);
      // A session's cookie is `s:<id>.<signature>`, a request's `<time>.<secret>.<sealed copy>`.
      const parts = plain.split('.');
      const bare =
        name === 'foyer_session'
          ? plain.slice(2).split('.')[0]
          : name.startsWith('foyer_request_')
            ? parts[1]
            : parts.at(-1);
      if (name !== 'foyer_lang') secrets[`${name} ${when}`] = bare ?? '';
    }
  };
  const take = (when: string, tokens: oidc.TokenEndpointResponse) => {
    secrets[`access token ${when}`] = tokens.access_token;
    secrets[`refresh token ${when}`] = tokens.refresh_token ?? '';
    secrets[`id token ${when}`] = tokens.id_token ?? '';
  };

  await browser.post('/sign-in', { username: user.email, password: 'a wrong password 1' });
  secrets['wrong password'] = 'a wrong password 1';
  const begun = await app.begin({ prompt: 'login' });
  const at = locationOf(await browser.get(begun.url));
  await seen('while a request waits');
  const verify = locationOf(
    await browser.post(`/sign-in${new URL(at).search}`, { username: user.email, password, remember: '1' }),
  );
  await seen('after the sign-in');
  const home = locationOf(await browser.get(await store(browser, verify)));
  secrets.code = new URL(home).searchParams.get('code') ?? '';
  secrets['code verifier'] = begun.verifier;
  const first = await app.redeem(home, begun);
  take('at first', first);
  take('refreshed', await oidc.refreshTokenGrant(app.config, first.refresh_token ?? ''));
  // This code is still valid, and this request is still pending.
  const second = await app.begin();
  const waiting = locationOf(await browser.get(second.url));
  secrets['unused code'] = new URL(waiting).searchParams.get('code') ?? '';
  const third = locationOf(await browser.get((await app.begin({ prompt: 'login' })).url));
  secrets['waiting request'] = new URL(third).searchParams.get('authorization_code') ?? '';
  await seen('at the end');
  const visitor = foyer.browser();
  await begin(foyer, visitor, newAddress());
  secrets['flow of a sign-up'] = (await visitor.cookies()).foyer_sign_up ?? '';
  secrets['password of a sign-up'] = newPassword;
  await visitor.post('/forgot-password', { username: user.email });
  secrets['flow of a reset'] = (await visitor.cookies()).foyer_reset ?? '';
  const mover = await foyer.signedIn(await foyer.addUser());
  const { email, phone } = contact.fresh();
  await contact.askForEmail(mover, email);
  await contact.askForPhone(mover, phone);
  const moving = await mover.cookies();
  secrets['flow of an address'] = moving.foyer_new_email ?? '';
  secrets['flow of a number'] = moving.foyer_new_phone ?? '';
  // No account has this address or number yet.
  Object.assign(secrets, { 'address that waits': email, 'number that waits': phone });
  await secondFactors(foyer, secrets, new URL(third).search);
  const { keys } = await loadJwks(foyer.stores.database, foyer.deps.boxes.keys, foyer.deps.now());
  keys.forEach((key, at) => {
    secrets[`signing key ${at}`] = key.d ?? '';
  });
  secrets.SECRET_KEY = foyer.deps.config.SECRET_KEYS[0] ?? '';
  return secrets;
}

/** An open challenge, a remembered device, and the codes that answer them. */
async function secondFactors(foyer: TestFoyer, secrets: Record<string, string>, search: string): Promise<void> {
  const [app, phone] = [await memberWithTotp(foyer), await memberWithSms(foyer)];
  const codes = await giveRecoveryCodes(foyer, app.user);
  secrets['secret of an app'] = app.secret;
  secrets['recovery code'] = codes[0] ?? '';
  secrets['recovery code as it is compared'] = (codes[0] ?? '').replaceAll('-', '');
  const browser = foyer.browser();
  await toChallenge(browser, app.user);
  await show(browser, await appCode(foyer, app.secret), { rememberDevice: '1' });
  secrets['remembered device'] = (await browser.cookies()).foyer_remembered?.split('.')[1] ?? '';
  const other = foyer.browser();
  await toChallenge(other, phone.user, search);
  secrets.challenge = (await other.cookies()).foyer_challenge ?? '';
}

describe.each(backends)('a thief of the stores or the log, on $name', (backend) => {
  let foyer: TestFoyer;
  let secrets: Record<string, string>;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { LOG_LEVEL: 'trace' });
    secrets = await secretsOfAJourney(foyer);
    for (const [name, secret] of Object.entries(secrets)) {
      if (secret.length < 10) throw new Error(`no secret was seen for ${name}: ${JSON.stringify(secret)}`);
    }
  });
  afterAll(() => foyer?.close());

  const foundIn = (text: string) =>
    Object.entries(secrets)
      .filter(([, secret]) => text.includes(secret) || text.includes(encodeURIComponent(secret)))
      .map(([name]) => name);

  it('A thief of the stores finds nothing that gives access', async () => {
    const text = await loot(foyer.stores);
    // The dump contains the users, so the search is not empty.
    expect(text).toContain('@example.com');
    expect(text).toMatch(/oidc:Session:|oidc:AccessToken:/);
    expect(foundIn(text)).toEqual([]);
  });

  it('A thief of the log finds nothing that gives access, not even from requests that fail', async () => {
    const secret = 'a secret in the wrong place';
    secrets.misplaced = secret;
    const browser = foyer.browser();
    const json = { 'content-type': 'application/json' };
    await browser.request(`/sign-in?password=${encodeURIComponent(secret)}`);
    await browser.post(`/nowhere?code=${encodeURIComponent(secret)}`, { password: secret });
    await browser.request('/sign-in', {
      method: 'POST',
      headers: { ...json, origin: foyer.url },
      body: `{"username":"a","password":"${secret}"`,
    });
    await browser.request('/sign-in', {
      method: 'POST',
      headers: { ...json, origin: foyer.url },
      body: `{"password":["${secret}"]}`,
    });
    await browser.post('/sign-in', { username: secret, password: secret });
    for (const path of ['/oauth2/token', '/oauth2/introspect', '/oauth2/revoke', '/oauth2/userInfo']) {
      const fields = { code: secret, token: secret, refresh_token: secret, client_secret: secret };
      await browser.request(path, {
        method: 'POST',
        headers: { ...asServer, authorization: `Basic ${btoa(`client1:${secret}`)}` },
        body: new URLSearchParams({ ...fields, grant_type: 'refresh_token' }).toString(),
      });
      await browser.request(path, { headers: { authorization: `Bearer ${secret}` } });
    }
    await browser.get(`/oauth2/authorize?client_id=x&state=${encodeURIComponent(secret)}&code_challenge=${secret}`);
    await browser.get(`/oauth2/logout?id_token_hint=${encodeURIComponent(secret)}`);
    await browser.get(`/oauth2/authorize/${encodeURIComponent(secret)}`, {
      headers: { cookie: `foyer_session=${encodeURIComponent(secret)}` },
    });
    const log = foyer.logged();
    expect(log).toContain('sign-in');
    expect(foundIn(log)).toEqual([]);
  });

  it('A thief cannot sign in with the hash of a session, a token or a client secret', async () => {
    const { db } = foyer.stores.database;
    const { secretHash, id } = await db
      .selectFrom('clients')
      .select(['id', 'secretHash'])
      .where('secretHash', 'is not', null)
      .executeTakeFirstOrThrow();
    const rows = await db.selectFrom('oidc').select('idHash').execute();
    for (const { idHash } of rows) {
      const browser = foyer.browser();
      for (const name of ['foyer_session', 'foyer_op']) {
        await browser.jar.setCookie(`${name}=s%3A${idHash}.${idHash}; Path=/`, foyer.url);
      }
      expect((await browser.get('/')).status).toBe(200);
      const info = await browser.request('/oauth2/userInfo', {
        headers: { accept: 'application/json', authorization: `Bearer ${idHash}` },
      });
      expect(info.status).toBe(401);
    }
    const answer = await foyer.browser().request('/oauth2/token', {
      method: 'POST',
      headers: { ...asServer, authorization: `Basic ${btoa(`${id}:${secretHash}`)}` },
      body: 'grant_type=refresh_token&refresh_token=x',
    });
    expect([answer.status, await answer.text()]).toEqual([401, expect.stringContaining('invalid_client')]);
  });

  it('A thief cannot move sealed data: a record in another record’s place does not open', async () => {
    const { db } = foyer.stores.database;
    await secretsOfAJourney(foyer);
    const tokens = await db.selectFrom('oidc').selectAll().where('model', '=', 'RefreshToken').execute();
    const [one, other] = tokens;
    expect(one && other && one.payload !== other.payload).toBe(true);
    const { oidc: box } = foyer.deps.boxes;
    expect(() => box.open(toSealedText(one?.payload ?? ''), `RefreshToken:${other?.idHash}`)).toThrow();
    expect(box.open(toSealedText(one?.payload ?? ''), `RefreshToken:${one?.idHash}`)).toContain(
      '"kind":"RefreshToken"',
    );
  });
});
