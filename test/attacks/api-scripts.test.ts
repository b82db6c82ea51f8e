import { bearer, type Signed, service, signedInto } from '../api/callers.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

/** The origin of the redirect address that the test clients register. */
const own = 'http://127.0.0.1:9';
const fromScript = (origin: string) => ({ origin, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' });

/** A script may read an answer only if the answer names its origin, or all origins (Fetch standard). */
const readers = (answer: Response) => answer.headers.get('access-control-allow-origin');

describe.each(backends)('JSON calls from a script of another origin, on $name', (backend) => {
  let foyer: TestFoyer;
  let signed: Signed;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    signed = await signedInto(foyer, 'openid account', { public: true });
  });
  afterAll(() => foyer?.close());

  const preflight = (path: string, method: string, headers: string, origin = own) =>
    sendRequest(foyer.url + path, {
      method: 'OPTIONS',
      headers: {
        ...fromScript(origin),
        'access-control-request-method': method,
        ...(headers && { 'access-control-request-headers': headers }),
      },
    });
  const withToken = (path: string, origin: string, token: string) =>
    sendRequest(foyer.url + path, { headers: { ...fromScript(origin), ...bearer(token).headers } });

  it('A page of a public client calls with the token of a member and reads answer, limits and refusals', async () => {
    const asked = await preflight('/user/info', 'GET', 'authorization');
    expect([asked.status, readers(asked)]).toEqual([204, own]);
    expect(asked.headers.get('access-control-allow-headers')).toContain('Authorization');
    const answer = await withToken('/user/info', own, signed.tokens.access_token);
    expect([answer.status, readers(answer)]).toEqual([200, own]);
    expect(answer.headers.get('access-control-expose-headers')).toContain('RateLimit');
    expect(answer.headers.get('vary')).toMatch(/Origin/);
    const refused = await sendRequest(`${foyer.url}/identity/setupTOTP`, {
      method: 'POST',
      headers: { ...fromScript(own), ...bearer(signed.tokens.access_token).headers },
    });
    expect([refused.status, readers(refused)]).toEqual([403, own]);
  });

  it.each([
    'https://evil.example',
    'null',
    'http://127.0.0.1:10',
    'https://127.0.0.1:9',
    'http://127.0.0.1:9.evil.example',
  ])('Attack: a page at %s with a stolen token may not call, and reads no answer', async (origin) => {
    const asked = await preflight('/user/info', 'GET', 'authorization', origin);
    expect([asked.status, readers(asked)]).toEqual([405, null]);
    expect(readers(await withToken('/user/info', origin, signed.tokens.access_token))).toBeNull();
  });

  it('Attack: no page of another origin uses the cookies of a member, not even one of a registered client', async () => {
    const cookie = await signed.browser.jar.getCookieString(foyer.url);
    const answer = await sendRequest(`${foyer.url}/user/info`, { headers: { ...fromScript(own), cookie } });
    expect([answer.status, readers(answer)]).toEqual([403, null]);
    const withBoth = await sendRequest(`${foyer.url}/user/info`, {
      headers: { ...fromScript(own), cookie, ...bearer('unknown').headers },
    });
    expect([withBoth.status, readers(withBoth)]).toEqual([401, null]);
    const asked = await preflight('/user/info', 'GET', 'authorization');
    for (const one of [asked, answer, withBoth]) {
      expect(one.headers.get('access-control-allow-credentials')).toBeNull();
    }
  });

  it('Attack: a page cannot send JSON without a token, nor public calls for its visitors', async () => {
    for (const [path, method, headers] of [
      ['/message/sent', 'POST', 'content-type'],
      ['/message/sent', 'POST', ''],
      ['/identity/signUp', 'POST', 'content-type'],
      ['/identity/forgotPassword', 'POST', 'authorization, content-type'],
      ['/user/info', 'DELETE', 'authorization'],
    ] as const) {
      const asked = await preflight(path, method, headers);
      expect([path, headers, asked.status, readers(asked)]).toEqual([path, headers, 405, null]);
    }
  });

  it('Attack: the tokens of a confidential client and of a service open no answer to scripts', async () => {
    const confidential = await signedInto(foyer, 'openid account');
    expect(readers(await withToken('/user/info', own, confidential.tokens.access_token))).toBeNull();
    const { token } = await service(foyer, ['clients:read']);
    expect(readers(await withToken('/clients', own, token))).toBeNull();
  });
});
