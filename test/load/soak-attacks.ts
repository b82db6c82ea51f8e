import { randomBytes, randomUUID } from 'node:crypto';
import { send } from '../attacks/wire.ts';
import type { TestFoyer } from '../support/foyer.ts';

/** A request of a visitor that may leave a record. */
export interface Attack {
  name: string;
  /** The number of requests in one turn from one address; a refusal ends the turn earlier. */
  most: number;
  /** @returns the status */
  send(address: string, at: number): Promise<number>;
}

const form = 'application/x-www-form-urlencoded';
const json = 'application/json';
const long = 'x'.repeat(3_400);
const longContinuation = new URLSearchParams({
  client_id: 'x'.repeat(1_900),
  state: 'x'.repeat(1_900),
  redirect_uri: `https://a.example/${'x'.repeat(1_900)}`,
  planHash: 'x'.repeat(1_900),
}).toString();

/** Every request of a visitor that may leave a record in a store, of the maximum accepted size. */
export async function attacks(foyer: TestFoyer, site: string): Promise<Attack[]> {
  const port = foyer.deps.config.PORT;
  const { id, redirectUri } = await foyer.addClient({
    redirectUris: ['https://app.example.com/back'],
    public: true,
  });
  const device = await foyer.addClient({ redirectUris: [], public: true, device: true });
  const member = await foyer.addUser();
  const request = {
    client_id: id,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
  };
  const host = new URL(site).host;
  const own = { origin: site, 'sec-fetch-site': 'same-origin' };
  const get = async (address: string, path: string) =>
    (await send(port, path, { headers: { host, accept: 'text/html', 'x-forwarded-for': address } })).status;
  const post = async (
    address: string,
    path: string,
    body: Record<string, string>,
    more: Record<string, string> = own,
  ) => {
    const common = { host, accept: 'text/html', 'x-forwarded-for': address };
    const answer = await send(port, path, {
      method: 'POST',
      headers: { ...common, 'content-type': form, ...more },
      body: new URLSearchParams(body).toString(),
    });
    // A refused form redirects to its page, which has the status of the refusal.
    const refusal = answer.setCookies.find((line) => /foyer_form_\w+=[^;]/.test(line));
    if (answer.status !== 303 || refusal === undefined) return answer.status;
    const { pathname, search } = new URL(String(answer.headers.location), site);
    const cookie = refusal.split(';')[0] ?? '';
    return (await send(port, pathname + search, { headers: { ...common, cookie } })).status;
  };
  const call = async (address: string, path: string, body: object) =>
    (
      await send(port, path, {
        method: 'POST',
        headers: { host, accept: json, 'content-type': json, 'x-forwarded-for': address },
        body: JSON.stringify(body),
      })
    ).status;
  const stranger = () => `${randomUUID()}@example.net`;
  const profile = () => ({
    given_name: 'x'.repeat(50),
    family_name: 'x'.repeat(50),
    email: stranger(),
    password: 'a long enough 1',
    terms: String(foyer.deps.terms.number),
  });
  const elsewhere = { origin: 'https://app.example.com', 'sec-fetch-site': 'cross-site' };
  const none = { 'sec-fetch-site': 'none' };
  const list: [name: string, most: number, send: Attack['send']][] = [
    [
      'authorize, long state',
      700,
      (a) => get(a, `/oauth2/authorize?${new URLSearchParams({ ...request, state: long })}`),
    ],
    ['authorize, short state', 700, (a) => get(a, `/oauth2/authorize?${new URLSearchParams(request)}`)],
    [
      'authorize by POST',
      700,
      (a) => post(a, '/oauth2/authorize', { ...request, state: 'x'.repeat(15_000) }, elsewhere),
    ],
    ['sign-out by POST', 700, (a) => post(a, '/oauth2/logout', { id_token_hint: 'x'.repeat(15_000) }, elsewhere)],
    ['pushed request', 1_300, (a) => post(a, '/oauth2/par', { ...request, state: 'x'.repeat(4_800) }, none)],
    [
      'device authorization',
      80,
      (a) => post(a, '/oauth2/device_authorization', { client_id: device.id, scope: 'openid' }, none),
    ],
    ['page for device codes', 700, (a) => get(a, '/oauth2/device')],
    ['sign-out page', 700, (a) => get(a, '/oauth2/logout')],
    ['begin again', 10, (a) => get(a, `/begin-again?authorization_code=${randomUUID()}`)],
    ['sign-up', 40, (a) => post(a, `/signup?${longContinuation}`, profile())],
    [
      'sign-up by call',
      40,
      (a) =>
        call(a, '/identity/signUp', {
          email: stranger(),
          password: 'a long enough 1',
          given_name: 'x'.repeat(50),
          family_name: 'x'.repeat(50),
        }),
    ],
    ['confirmation by call', 10, (a) => call(a, '/identity/confirmSignUp', { flow: 'x'.repeat(43), code: '123456' })],
    ['code again by call', 60, (a) => call(a, '/identity/resendConfirmationCode', { flow: 'x'.repeat(43) })],
    [
      'forgot password',
      80,
      (a, at) => post(a, `/forgot-password?${longContinuation}`, { username: at % 2 ? stranger() : member.email }),
    ],
    ['forgot password by call', 80, (a) => call(a, '/identity/forgotPassword', { username: stranger() })],
    [
      'reset by call',
      80,
      (a) =>
        call(a, '/identity/forgotPasswordSubmit', {
          flow: 'x'.repeat(43),
          code: '123456',
          newPassword: 'a long enough 2',
        }),
    ],
    ['sign-in guess', 80, (a) => post(a, '/sign-in', { username: stranger(), password: 'x'.repeat(200) })],
    [
      'passkey',
      80,
      (a) =>
        post(a, '/sign-in/passkey', {
          credential: JSON.stringify({ id: randomBytes(32).toString('base64url'), response: {} }),
        }),
    ],
    ['sign-in page', 10, (a) => get(a, `/?${longContinuation}`)],
    ['federation', 80, (a) => post(a, `/federation/google?${longContinuation}`, {})],
    [
      'federation answer',
      10,
      (a) => get(a, `/federation/google/callback?state=${randomBytes(32).toString('base64url')}&code=${long}`),
    ],
    [
      'token',
      10,
      (a) =>
        post(
          a,
          '/oauth2/token',
          {
            grant_type: 'authorization_code',
            client_id: id,
            code: randomUUID(),
            redirect_uri: redirectUri,
            code_verifier: 'x'.repeat(43),
          },
          none,
        ),
    ],
    [
      'refresh',
      10,
      (a) =>
        post(a, '/oauth2/token', { grant_type: 'refresh_token', client_id: id, refresh_token: randomUUID() }, none),
    ],
    ['language', 10, (a) => post(a, '/language', { lang: 'de', redirect: '/' })],
    [
      'member call without a session',
      10,
      (a) => call(a, '/message/sent', { title: 't', description: long, category: 'c' }),
    ],
    ['settings without a session', 10, (a) => post(a, '/settings/email', { email: stranger() })],
  ];
  return list.map(([name, most, act]) => ({ name, most, send: act }));
}
