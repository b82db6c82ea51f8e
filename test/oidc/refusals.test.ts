import { createSandboxRefusals } from '../../sandbox/index.ts';
import { createMetrics, type OpenMetrics } from '../../server/metrics/index.ts';
import type { User } from '../../server/users/index.ts';
import { sampleOf, samplesOf } from '../metrics/read.ts';
import { locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty, signInFor, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { rawKeys, visible } from '../views/raw-keys.ts';

interface Line {
  level: number;
  act?: string;
  endpoint: string;
  client_id: string;
  error: string;
  error_description?: string;
  error_detail?: string;
}

describe.each(backends)('refused requests of client apps on $name', (backend) => {
  let metrics: OpenMetrics;
  let foyer: TestFoyer;
  let user: User;
  let client: RelyingParty;
  let authorization: string;
  let confidential: string;
  beforeAll(async () => {
    metrics = await createMetrics(1);
    foyer = await startFoyer(backend, {}, { metrics });
    user = await foyer.addUser();
    client = await relyingParty(foyer, await foyer.addClient({ public: true }));
    const registered = await foyer.addClient();
    confidential = registered.id;
    authorization = `Basic ${btoa(`${registered.id}:${registered.secret}`)}`;
  });
  afterAll(() => foyer?.close());

  const lines = () =>
    foyer
      .logged()
      .split('\n')
      .filter((line) => line.includes('"oauth-refused"'))
      .map((line): Line => JSON.parse(line));
  const counted = async (endpoint: string, error: string) =>
    sampleOf((await metrics.local?.text()) ?? '', 'foyer_oauth_refused_total', { endpoint, error }) ?? 0;

  /** What one request adds to the log and the metric. */
  async function refused(endpoint: string, error: string, request: () => Promise<unknown>) {
    const [linesBefore, before] = [lines().length, await counted(endpoint, error)];
    const answer = await request();
    expect((await counted(endpoint, error)) - before).toBe(1);
    const [line, ...more] = lines().slice(linesBefore);
    expect(more).toEqual([]);
    expect(line).toMatchObject({ endpoint, error });
    return { line, answer };
  }
  const post = async (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
    const answer = await sendRequest(foyer.url + path, { method: 'POST', headers, body: new URLSearchParams(fields) });
    return { status: answer.status, body: (await answer.json()) as { error: string; error_description: string } };
  };
  const asConfidential = () => ({ authorization });

  it('A refused authorization request leaves a line with endpoint, client, error and reason', async () => {
    const { line, answer } = await refused('authorize', 'invalid_request', async () =>
      locationOf(await foyer.browser().get((await client.begin({ code_challenge: '' })).url)),
    );
    expect(line).toMatchObject({ level: 30, client_id: client.id });
    const told = new URL(String(answer)).searchParams.get('error_description');
    expect(told).toMatch(/PKCE|code_challenge/);
    expect(line?.error_description).toBe(told);
  });

  it('An authorization request of an unknown client, or with a wrong address, leaves one line', async () => {
    const at = foyer.browser();
    const { url } = await client.begin();
    const unknown = await refused('authorize', 'invalid_client', () =>
      at.get(url.replace(`client_id=${client.id}`, 'client_id=typed-wrong')),
    );
    expect(unknown.line).toMatchObject({ client_id: 'unknown' });
    const { line } = await refused('authorize', 'invalid_redirect_uri', async () =>
      at.get((await client.begin({ redirect_uri: 'https://elsewhere.example/' })).url),
    );
    expect(line).toMatchObject({ client_id: client.id });
  });

  it.each([
    ['token', 'invalid_grant', '/oauth2/token', { grant_type: 'refresh_token', refresh_token: 'x' }],
    ['token', 'unsupported_grant_type', '/oauth2/token', { grant_type: 'password' }],
    ['par', 'invalid_request', '/oauth2/par', { response_type: 'code' }],
    ['device_authorization', 'invalid_request', '/oauth2/device_authorization', {}],
    ['introspect', 'invalid_request', '/oauth2/introspect', {}],
    ['revoke', 'invalid_request', '/oauth2/revoke', {}],
  ])('The endpoint %s logs and counts %s with the client', async (endpoint, error, path, fields) => {
    const { line, answer } = await refused(endpoint, error, () =>
      post(path, fields as Record<string, string>, asConfidential()),
    );
    expect(line).toMatchObject({ level: 30, client_id: confidential });
    expect((answer as { status: number }).status).toBeGreaterThanOrEqual(400);
  });

  it('The userinfo and logout endpoints log and count their refusals', async () => {
    const { line } = await refused('userinfo', 'invalid_token', () =>
      sendRequest(`${foyer.url}/oauth2/userInfo`, { headers: { authorization: 'Bearer typed-wrong' } }),
    );
    expect(line).toMatchObject({ client_id: 'unknown' });
    await refused('logout', 'invalid_request', () => foyer.browser().get('/oauth2/logout?id_token_hint=no.id.token'));
  });

  it('An unknown client and a wrong secret get the same answer, and only the log tells them apart', async () => {
    const wrong = (id: string) => () =>
      post('/oauth2/token', { grant_type: 'client_credentials', client_id: id, client_secret: 'typed-wrong' });
    const known = await refused('token', 'invalid_client', wrong(confidential));
    const unknown = await refused('token', 'invalid_client', wrong('typed-wrong'));
    expect(known.answer).toEqual(unknown.answer);
    expect([known.line?.client_id, unknown.line?.client_id]).toEqual([confidential, 'unknown']);
    expect(known.line?.error_detail).not.toBe(unknown.line?.error_detail);
  });

  it('A refused code or refresh token is described by what the developer can do', async () => {
    const begun = await client.begin();
    const code = new URL(await signInFor(foyer.browser(), begun, user)).searchParams.get('code') ?? '';
    const redemption = (fields: Record<string, string>) => () =>
      post('/oauth2/token', {
        grant_type: 'authorization_code',
        client_id: client.id,
        code,
        redirect_uri: client.redirectUri,
        code_verifier: begun.verifier,
        ...fields,
      });
    const told = async (fields: Record<string, string>) => {
      const { answer, line } = await refused('token', 'invalid_grant', redemption(fields));
      const { body } = answer as Awaited<ReturnType<typeof post>>;
      expect(line?.error_description).toBe(body.error_description);
      return body.error_description;
    };
    expect(await told({ code_verifier: 'v'.repeat(43) })).toContain('code_verifier does not match');
    expect(await told({ redirect_uri: `${client.redirectUri}/` })).toContain('redirect_uri differs');
    expect(await told({ code: 'typed-wrong' })).toContain('the code is unknown');
    expect(await told({ grant_type: 'refresh_token', refresh_token: 'typed-wrong' })).toContain('the refresh token is');
  });

  it('An error of the flow itself is counted, and logged at debug', async () => {
    const { line } = await refused('authorize', 'login_required', async () =>
      foyer.browser().get((await client.begin({ prompt: 'none' })).url),
    );
    expect(line?.level).toBe(20);
  });

  it('A refresh that is answered again, and the introspection of a JWT, are no refusals', async () => {
    const { refresh_token: token = '', id_token: jwt = '' } = await tokensFor(client, foyer.browser(), user);
    const before = lines().length;
    const refresh = () =>
      post('/oauth2/token', { grant_type: 'refresh_token', client_id: client.id, refresh_token: token });
    const [first, second] = [await refresh(), await refresh()];
    expect(second).toEqual(first);
    expect((await post('/oauth2/introspect', { token: jwt }, asConfidential())).body).toEqual({ active: false });
    expect(lines()).toHaveLength(before);
  });

  it('Attack: error words and values that a stranger sends add no label value and no secret to log and metric', async () => {
    const secrets = ['s3cret-state', 's3cret-nonce', 's3cret-hint@example.com', 's3cret-verifier', 's3cret-claim'];
    const [state = '', nonce = '', login_hint = '', code_verifier = '', claim = ''] = secrets;
    const at = foyer.browser();
    const mistakes: Record<string, string>[] = [
      { response_type: 's3cret-verifier' },
      { claims: `{"id_token": {"${claim}": ` },
      { prompt: 's3cret-claim' },
      { scope: 'unregistered' },
      { id_token_hint: 's3cret-state.s3cret-nonce.s3cret-claim' },
    ];
    for (const wrong of mistakes) await at.get((await client.begin({ state, nonce, login_hint, ...wrong })).url);
    await post('/oauth2/token', { grant_type: 'authorization_code', client_id: client.id, code: claim, code_verifier });
    const text = JSON.stringify(lines());
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
    const values = samplesOf((await metrics.local?.text()) ?? '').filter(
      ({ name }) => name === 'foyer_oauth_refused_total',
    );
    expect(values.filter(({ labels }) => !/^[a-z_]+$/.test(labels.error ?? ''))).toEqual([]);
  });

  it('The page of the sandbox shows the last refusals of a client with the reason', async () => {
    await foyer.browser().get((await client.begin({ response_type: 'token' })).url);
    const read = async (search: string, lang = 'en') =>
      visible(
        await (
          await foyer.browser().get(`/sandbox/refusals${search}`, { headers: { 'accept-language': lang } })
        ).text(),
      );
    const own = await read(`?client=${client.id}`);
    expect(own).toContain(client.id);
    expect(own).toContain('unsupported_response_type');
    expect(own).not.toContain(confidential);
    expect(await read('')).toContain(confidential);
    expect(await read('?client=%22%3E%3Cb%3E')).toContain('No refused requests of &quot;&gt;&lt;b&gt;');
    for (const lang of ['en', 'de', 'fr', 'nl']) expect(rawKeys(await read('', lang))).toEqual([]);
  });

  it('The sandbox keeps the last 50 refusals', async () => {
    const refusals = createSandboxRefusals(foyer.deps);
    for (let at = 0; at < 52; at += 1) await refusals.add({ endpoint: 'token', clientId: `app-${at}`, error: 'x' });
    expect(await refusals.list()).toHaveLength(50);
    expect(await refusals.list({ clientId: 'app-51' })).toHaveLength(1);
  });
});
