import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { signedInto } from './callers.ts';
import { html, readProblem, type StartedApi, startApi } from './started-api.ts';

describe.each(backends)('requests to the JSON API on $name', (backend) => {
  let api: StartedApi;
  beforeAll(async () => {
    api = await startApi(backend);
  });
  afterAll(() => api?.close());

  it('Attack: a user reads only their own data, also with the id of another user', async () => {
    const [ada, bob] = [await signedInto(api.foyer), await signedInto(api.foyer)];
    for (const { user, browser, tokens } of [ada, bob]) {
      const own = (await (await browser.get('/user/info', { from: 'same-origin' })).json()) as { sub: string };
      const headers = { authorization: `Bearer ${tokens.access_token}` };
      const byToken = (await (await api.ask(`/user/info?sub=${ada.user.id}`, { headers })).json()) as { sub: string };
      expect([own.sub, byToken.sub]).toEqual([user.id, user.id]);
    }
  });

  it('A field that the description does not name is removed from the answer', async () => {
    const answer = await sendRequest(`${api.probesUrl}/probe/leaky`);
    expect(await answer.json()).toEqual({ principal: 'no principal', note: '' });
  });

  it.each([
    ['/clients', 'POST', 405],
    ['/clients', 'OPTIONS', 405],
    ['/user/info', 'DELETE', 405],
    ['/openapi.json', 'PUT', 405],
    ['/clients/', 'GET', 404],
    ['/clients/7', 'GET', 404],
    ['/user/unknown-call', 'GET', 404],
    ['/user/info/', 'GET', 404],
    ['/verifyClient/x', 'POST', 404],
    ['/clients', 'GET', 401],
    ['/verifyClient', 'GET', 400],
  ])('%s answers %s with problem details and %i, whatever Accept says', async (path, method, status) => {
    const answer = await api.ask(path, { method, headers: { ...html, 'sec-fetch-site': 'none' } });
    expect(answer.status).toBe(status);
    expect(await readProblem(answer)).toEqual({
      type: expect.stringMatching(/^urn:foyer:problem:[a-zA-Z]+$/),
      title: expect.any(String),
      status,
      detail: expect.any(String),
      instance: expect.stringMatching(/^urn:foyer:reference:[0-9A-F]{10}$/),
      ...(status === 400 && { errors: expect.any(Array) }),
    });
    expect(answer.headers.has('allow')).toBe(status === 405);
  });

  it('Attack: a page of another origin can neither read a call nor pass a preflight request', async () => {
    const from = { origin: 'https://app.example', 'sec-fetch-site': 'cross-site' };
    const asking = {
      ...from,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    };
    const wrong: string[] = [];
    for (const path of new Set(api.foyer.app.operations.map((operation) => operation.path))) {
      const asked = await api.ask(path, { method: 'OPTIONS', headers: asking });
      const called = await api.ask(path, {
        method: 'POST',
        headers: { ...from, 'content-type': 'text/plain' },
        body: '{}',
      });
      const allowing = [asked, called]
        .flatMap(({ headers }) => [...headers.keys()])
        .filter((n) => /^access-control/.test(n));
      if (asked.status !== 405 || called.ok || allowing.length > 0) wrong.push(path);
    }
    expect(wrong).toEqual([]);
  });

  it('Pages keep their addresses beside the API', async () => {
    for (const path of ['/', '/nowhere', '/usersettings', '/clientside']) {
      const answer = await api.ask(path, { headers: html });
      expect(answer.headers.get('content-type')).toMatch(/^text\/html/);
    }
  });

  it('Problem details have their own English texts, whatever language the caller reads', async () => {
    const answer = await api.ask('/clients/7', { headers: { 'accept-language': 'nl' } });
    expect(await readProblem(answer)).toMatchObject({
      title: 'No such call',
      detail: 'There is no call at this address.',
    });
  });

  it('Invalid input is refused with the names of the fields, never with a value', async () => {
    const query = new URLSearchParams({ client_id: '', logout_uri: 'secret-'.repeat(400) });
    const answer = await api.ask(`/verifyClient?${query}`);
    expect(answer.status).toBe(400);
    const body = await readProblem(answer);
    expect((body.errors as { name: string }[]).map(({ name }) => name)).toEqual([
      'query.client_id',
      'query.logout_uri',
    ]);
    expect(JSON.stringify(body)).not.toContain('secret-');
  });

  it('/verifyClient accepts registered logout addresses only on an exact match', async () => {
    const logoutUri = 'http://127.0.0.1:9/out';
    const { id } = await api.foyer.addClient({ logoutUris: [logoutUri] });
    const verify = (client: string, uri: string) =>
      api.ask(`/verifyClient?${new URLSearchParams({ client_id: client, logout_uri: uri })}`);
    expect((await verify(id, logoutUri)).status).toBe(200);
    for (const [client, uri] of [
      [id, `${logoutUri}/`],
      [id, `${logoutUri}?x=1`],
      [id, 'https://evil.example/'],
      ['unknown', logoutUri],
    ] as const) {
      expect((await verify(client, uri)).status).toBe(404);
    }
  });

  it('A body must be JSON of 16 KiB at most', async () => {
    const { tokens } = await signedInto(api.foyer);
    const post = (type: string, body: string) =>
      sendRequest(`${api.probesUrl}/probe/member`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tokens.access_token}`, 'content-type': type },
        body,
      });
    expect((await post('application/json', '{"note":"x"}')).status).toBe(200);
    expect((await post('application/json; charset=utf-8', '{"note":"x"}')).status).toBe(200);
    expect((await post('text/plain', '{"note":"x"}')).status).toBe(415);
    expect((await post('application/x-www-form-urlencoded', 'note=x')).status).toBe(415);
    expect((await post('application/json', '{"note":')).status).toBe(400);
    expect((await post('application/json', '"x"')).status).toBe(400);
    expect((await post('application/json', '{"note":7}')).status).toBe(400);
    expect((await post('application/json', JSON.stringify({ note: 'x'.repeat(20_000) }))).status).toBe(413);
  });
});
