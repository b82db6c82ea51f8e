import * as oidc from 'openid-client';
import { hashRecoveryCode } from '../../server/mfa/index.ts';
import type { User } from '../../server/users/index.ts';
import { ask, codeFor, otherThan, submit } from '../password/steps.ts';
import {
  appCode,
  giveRecoveryCodes,
  memberWithSms,
  memberWithTotp,
  show,
  textedCode,
  toChallenge,
} from '../sign-in/factor-steps.ts';
import type { Browser } from '../support/browser.ts';
import { password, type TestFoyer } from '../support/foyer.ts';
import type { Overheard } from '../support/overhear.ts';
import { relyingParty, signInFor, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';

/** A secret that is sent in headers, by mistake or by a person who reads the log later. */
export const inHeaders = 'a-secret-of-a-header';
const form = { 'content-type': 'application/x-www-form-urlencoded' };

/** What users and client apps do, and what fails: no secret that they send may be in the log. */
export async function runAllFlows(foyer: TestFoyer, overheard: Overheard): Promise<void> {
  const user = await foyer.addUser({ email: 'ada.secret@example.com', phone: '+4915112345678', phoneVerified: true });
  const browser = foyer.browser();
  await browser.post('/sign-in', { username: user.email, password: 'a wrong password' });
  await browser.post('/sign-in', { username: 'unknown.known@example.com', password: 'another wrong password' });
  await browser.post('/sign-in', { username: 'bell\u0007ringer', password: 'pass\u0000word of nobody' });

  const registrations = [{}, { public: true }, { thirdParty: true }, { native: true, public: true }];
  for (const registration of registrations) {
    const redirect = 'native' in registration ? { redirectUris: ['com.example.app:/callback'] } : {};
    const client = await relyingParty(
      foyer,
      await foyer.addClient({ ...registration, ...redirect }),
      'openid email offline_access',
    );
    const tokens = await tokensFor(client, foyer.browser(), user);
    await oidc.fetchUserInfo(client.config, tokens.access_token, user.id);
    if (tokens.refresh_token === undefined) continue;
    await oidc.refreshTokenGrant(client.config, tokens.refresh_token);
    await oidc.refreshTokenGrant(client.config, tokens.refresh_token).catch(() => {});
  }
  await refusals(foyer, user.email);
  await signingOut(foyer, browser, user.email);
  await newPasswords(foyer, user);
  await secondFactors(foyer, overheard);
}

async function refusals(foyer: TestFoyer, email: string): Promise<void> {
  const registered = await foyer.addClient();
  const client = await relyingParty(foyer, registered);
  const browser = foyer.browser();
  const begun = await client.begin();
  const callback = await signInFor(browser, begun, { email });
  await client.redeem(callback, { ...begun, verifier: oidc.randomPKCECodeVerifier() }).catch(() => {});
  const tokens = await client.redeem(callback, begun);
  await client.redeem(callback, begun).catch(() => {});
  await oidc.tokenIntrospection(client.config, tokens.access_token);
  await oidc.tokenRevocation(client.config, tokens.access_token);
  await sendRequest(`${foyer.url}/oauth2/userInfo`, { headers: { authorization: `Bearer ${tokens.access_token}` } });
  await sendRequest(`${foyer.url}/oauth2/userInfo?access_token=${tokens.access_token}`);
  const post = (path: string, fields: Record<string, string>, headers = {}) =>
    sendRequest(foyer.url + path, {
      method: 'POST',
      headers: { ...form, ...headers },
      body: new URLSearchParams(fields),
    });
  await post('/oauth2/token', {
    grant_type: 'authorization_code',
    client_id: client.id,
    client_secret: 'a wrong client secret',
  });
  await post(
    '/oauth2/token',
    { grant_type: 'password', username: email, password },
    { authorization: `Basic ${btoa(`${client.id}:${registered.secret}`)}` },
  );
  await post(
    '/oauth2/token',
    { grant_type: 'refresh_token', refresh_token: 'not-one-of-ours-at-all' },
    { authorization: 'Basic not-even-base64' },
  );
  // People also put secrets where none belongs.
  await browser.get(`/sign-in?username=${email}&password=typed-into-the-address`);
  await browser.get('/no/such/page?token=a-token-of-somebody-elses-making');
  await browser.get((await client.begin({ redirect_uri: 'https://evil.example/?key=in-the-redirect-address' })).url);
  await browser.get((await client.begin({ id_token_hint: tokens.id_token ?? '', prompt: 'none' })).url);
  await browser.get((await client.begin({ id_token_hint: 'eyJhbGciOiJub25lIn0.made-up-payload.x' })).url);
  await browser.get('/oauth2/authorize/an-interaction-that-never-was');
  await browser.post('/storage', { authorization_code: 'a-request-that-never-was', id_token: tokens.id_token ?? '' });
  const json = { 'content-type': 'application/json', origin: foyer.url, 'sec-fetch-site': 'same-origin' };
  const broken = `{"username":"${email}","password":"inside broken JSON"`;
  for (const body of [broken, 'hunter2', '"unfinished secret text']) {
    await browser.request('/sign-in', { method: 'POST', headers: json, body });
  }
  await browser.request('/sign-in', {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ password: 'p'.repeat(20_000) }),
  });
  await browser.request('/sign-in', {
    method: 'POST',
    headers: { ...json, 'content-type': 'application/xml' },
    body: '<password>in XML</password>',
  });
  await browser.post(
    '/sign-in',
    { username: email, password },
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
  );
  // No value of a header of an unknown body type may appear anywhere.
  const unknown: [string, string][] = [
    ['content-encoding', `${inHeaders}-encoding`],
    ['content-type', `application/json; charset=${inHeaders}-charset`],
    ['content-type', `${inHeaders}/type`],
  ];
  for (const path of ['/sign-in', '/identity/signUp', '/graphql', '/webhooks/stripe', '/oauth2/token']) {
    for (const [name, value] of unknown) {
      const headers = { ...json, [name]: value };
      await browser.request(path, { method: 'POST', headers, body: '{"password":"behind an unknown header"}' });
    }
  }
  await browser.get('/', { headers: { cookie: 'foyer_session=s%3Amade-up-session-id.made-up-signature; %E0%A4%A=x' } });
}

/** Mailed codes are recorded when they are typed in; wrong codes are secrets too. */
async function newPasswords(foyer: TestFoyer, user: User): Promise<void> {
  const browser = foyer.browser();
  await browser.post('/forgot-password', { username: 'unknown.forgetful@example.com' });
  await ask(browser, user.email);
  const code = await codeFor(foyer, user.email);
  await submit(browser, user.email, otherThan(code), 'a new password that is not set 1');
  await submit(browser, user.email, code, `${user.email} in a password 2`);
  await submit(browser, user.email, code, 'a password that was reset 3');
  const asked = await browser.postJson('/identity/forgotPassword', { username: user.email });
  const { flow } = (await asked.json()) as { flow: string };
  const newPassword = 'a password by the JSON API 4';
  await browser.postJson('/identity/forgotPasswordSubmit', {
    flow,
    code: await codeFor(foyer, user.email),
    newPassword,
  });
  await browser.post('/sign-in', { username: user.email, password: newPassword });
  await browser.postJson('/identity/changePassword', { oldPassword: 'an old password that is none 5', newPassword });
  await browser.postJson('/identity/changePassword', { oldPassword: newPassword, newPassword: 'a password changed 6' });
}

/** Every kind of code, right and wrong, at sign-in and set-up, and the secrets behind them. */
async function secondFactors(foyer: TestFoyer, overheard: Overheard): Promise<void> {
  const [app, phone] = [await memberWithTotp(foyer), await memberWithSms(foyer)];
  overheard.add('secret of an app', app.secret);
  const codes = await giveRecoveryCodes(foyer, app.user);
  for (const code of codes) {
    overheard.add('recovery code', code);
    overheard.add('normal recovery code', code.replaceAll('-', ''));
    overheard.add('hash of a recovery code', hashRecoveryCode(code.replaceAll('-', '')));
  }
  const browser = foyer.browser();
  await toChallenge(browser, app.user);
  const shown = await appCode(foyer, app.secret);
  await show(browser, otherThan(shown));
  await show(browser, shown, { rememberDevice: '1' });
  await browser.post('/re-authenticate', { password });
  await show(browser, codes[0] ?? '', { method: 'recovery' });
  const other = foyer.browser();
  await toChallenge(other, app.user);
  await show(other, shown);
  await show(other, 'WXYZ-WXYZ-WXYZ-WXYZ', { method: 'recovery' });
  await show(other, codes[1] ?? '', { method: 'recovery' });
  const texted = foyer.browser();
  await toChallenge(texted, phone.user);
  const sent = await textedCode(foyer, phone.phone);
  overheard.add('phone', phone.phone);
  await show(texted, otherThan(sent));
  await show(texted, sent);
  await texted.get(`/second-factor?code=${sent}`);
  // This comes last: the form field is called `code`, and the last name of a value counts.
  overheard.add('text message', sent);
}

async function signingOut(foyer: TestFoyer, browser: Browser, email: string): Promise<void> {
  const client = await relyingParty(foyer, await foyer.addClient({ logoutUris: ['http://127.0.0.1:9/bye'] }));
  const begun = await client.begin();
  const tokens = await client.redeem(await signInFor(browser, begun, { email }), begun);
  const hint = {
    id_token_hint: tokens.id_token ?? '',
    post_logout_redirect_uri: 'http://127.0.0.1:9/bye',
    state: 'state-of-signing-out',
  };
  await browser.get(`/oauth2/logout?${new URLSearchParams(hint)}`);
  await browser.post('/logout', {
    client_id: client.id,
    logout_uri: 'http://127.0.0.1:9/bye',
    state: 'another-state-of-it',
  });
}
