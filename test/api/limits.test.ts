import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { createAnswerCheck } from './answers.ts';
import { signedInto } from './callers.ts';
import { html, readProblem, type StartedApi, startApi } from './started-api.ts';

describe.each(backends)('limits of the JSON API on $name', (backend) => {
  let api: StartedApi;
  beforeAll(async () => {
    api = await startApi(backend);
  });
  afterAll(() => api?.close());

  const call = (token: string) =>
    sendRequest(`${api.probesUrl}/probe/rare`, { headers: { authorization: `Bearer ${token}` } });

  it('Each caller has its own limit, sees the calls left and gets Retry-After when refused', async () => {
    const [ada, bob] = [await signedInto(api.foyer), await signedInto(api.foyer)];
    const left: (string | null)[] = [];
    for (let times = 0; times < 3; times += 1) {
      const answer = await call(ada.tokens.access_token);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('ratelimit-policy')).toMatch(/^"api:probeRare"; q=3; w=60/);
      expect(answer.headers.get('retry-after')).toBeNull();
      left.push(/; r=(\d+); t=\d+$/.exec(answer.headers.get('ratelimit') ?? '')?.[1] ?? null);
    }
    expect(left).toEqual(['2', '1', '0']);
    const refused = await call(ada.tokens.access_token);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect((await call(bob.tokens.access_token)).status).toBe(200);
  });

  it('Attack: another app or session of the same user gives no more calls', async () => {
    const { user, browser, tokens } = await signedInto(api.foyer);
    for (let times = 0; times < 3; times += 1) await call(tokens.access_token);
    const cookie = await browser.jar.getCookieString(api.foyer.url);
    expect((await sendRequest(`${api.probesUrl}/probe/rare`, { headers: { cookie } })).status).toBe(429);
    const second = await api.foyer.signedIn(user);
    const other = await second.jar.getCookieString(api.foyer.url);
    expect((await sendRequest(`${api.probesUrl}/probe/rare`, { headers: { cookie: other } })).status).toBe(429);
  });

  it('Attack: parallel calls do not exceed the limit', async () => {
    const { tokens } = await signedInto(api.foyer);
    const answers = await Promise.all(Array.from({ length: 20 }, () => call(tokens.access_token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
  });

  it('Visitors are counted by their address, and the refusal is a problem with its limit', async () => {
    const path = '/verifyClient?client_id=a&logout_uri=https%3A%2F%2Fb.example%2F';
    let refused: Response | undefined;
    for (let times = 0; times < 80 && !refused; times += 1) {
      const answer = await api.ask(path, { headers: html });
      if (answer.status !== 404) refused = answer;
    }
    expect(refused?.status).toBe(429);
    expect(
      await createAnswerCheck(api.document)({ method: 'get', path: '/verifyClient' }, refused as Response),
    ).toEqual([]);
    expect(await readProblem(refused as Response)).toMatchObject({ type: 'urn:foyer:problem:tooMany', status: 429 });
    expect(refused?.headers.get('ratelimit-policy')).toMatch(/^"api:verifyClient"; q=60; w=60/);
  });
});
