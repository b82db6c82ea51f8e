import * as oidc from 'openid-client';
import { createMetrics, type OpenMetrics } from '../../server/metrics/index.ts';
import { createPasswordHasher, PasswordQueueFullError } from '../../server/password/index.ts';
import { noMetrics } from '../../server/shared/index.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty, signInFor, tokensFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { sampleOf, samplesOf } from './read.ts';

const anyPort = 1;

describe.each(backends)('metrics on $name', (backend) => {
  let foyer: TestFoyer;
  let metrics: OpenMetrics;
  beforeAll(async () => {
    metrics = await createMetrics(anyPort);
    foyer = await startFoyer(backend, { GUESS_LIMIT_ACCOUNT: '2' }, { metrics });
  });
  afterAll(() => foyer?.close());

  const read = async () => (await metrics.local?.text()) ?? '';
  /** How much a counter grew while `act` ran; answers have left before their requests are counted. */
  async function growth(act: () => Promise<unknown>, name: string, labels: Record<string, string> = {}) {
    const before = sampleOf(await read(), name, labels) ?? 0;
    await act();
    await new Promise((resolve) => setTimeout(resolve, 20));
    return (sampleOf(await read(), name, labels) ?? 0) - before;
  }

  it('The metrics count sign-ins by result, and guesses by the limit that refuses them', async () => {
    const user = await foyer.addUser();
    const signIn = (secret: string) => foyer.browser().post('/sign-in', { username: user.email, password: secret });
    const results = ['wrong-password', 'too-many', 'signed-in'];
    const before = await read();
    await signIn(password);
    for (let n = 0; n < 3; n += 1) await signIn('wrong');
    const after = await read();
    const grown = results.map((result) => {
      const labels = { method: 'password', result };
      return (
        (sampleOf(after, 'foyer_sign_ins_total', labels) ?? 0) - (sampleOf(before, 'foyer_sign_ins_total', labels) ?? 0)
      );
    });
    expect(grown).toEqual([2, 1, 1]);
    expect(sampleOf(after, 'foyer_guesses_refused_total', { limit: 'account' })).toBe(1);
  });

  it.each([
    // Its refresh token stays the same.
    { registration: {}, client_type: 'confidential', refreshTokens: 1 },
    { registration: { public: true }, client_type: 'public', refreshTokens: 2 },
  ])(
    'The metrics count codes and tokens by kind for a $client_type client',
    async ({ registration, client_type, refreshTokens }) => {
      const user = await foyer.addUser();
      const client = await relyingParty(foyer, await foyer.addClient(registration));
      const kinds = ['authorization_code', 'access_token', 'refresh_token', 'id_token'];
      const counts = async () => {
        const text = await read();
        return kinds.map((kind) => sampleOf(text, 'foyer_oauth_issued_total', { kind, client_type }) ?? 0);
      };
      const before = await counts();
      const tokens = await tokensFor(client, foyer.browser(), user);
      await oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '');
      const after = await counts();
      expect(after.map((count, at) => count - (before[at] ?? 0))).toEqual([1, 2, refreshTokens, 2]);
    },
  );

  it('The metrics count id tokens that are issued without a code', async () => {
    const user = await foyer.addUser();
    const client = await foyer.addClient({ responseTypes: ['id_token'] });
    const party = await relyingParty(foyer, client, 'openid');
    const grown = await growth(
      async () => signInFor(foyer.browser(), await party.begin({ response_type: 'id_token' }), user),
      'foyer_oauth_issued_total',
      { kind: 'id_token' },
    );
    expect(grown).toBe(1);
  });

  it('The metrics count codes and refresh tokens that are reused, and introspection is no reuse', async () => {
    const user = await foyer.addUser();
    const client = await relyingParty(foyer, await foyer.addClient({ public: true }));
    const begun = await client.begin();
    const callback = await signInFor(foyer.browser(), begun, user);
    const tokens = await client.redeem(callback, begun);
    await oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '');
    const reused = 'foyer_oauth_reuse_total';
    const introspected = () => oidc.tokenIntrospection(client.config, tokens.refresh_token ?? '');
    expect(await growth(introspected, reused)).toBe(0);
    const refreshed = () => oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '').catch(() => {});
    // A retry within seconds gets the first answer.
    expect(await growth(refreshed, reused)).toBe(0);
    foyer.passTime(11_000);
    expect(await growth(refreshed, reused, { kind: 'refresh_token' })).toBe(1);
    const second = await client.begin();
    const other = await signInFor(foyer.browser(), second, user);
    await client.redeem(other, second);
    const redeemed = () => client.redeem(other, second).catch(() => {});
    expect(await growth(redeemed, reused, { kind: 'authorization_code' })).toBe(1);
  });

  it('The metrics count sessions started and ended, by cause', async () => {
    const user = await foyer.addUser();
    const begun = 'foyer_sessions_begun_total';
    expect(await growth(() => foyer.signedIn(user), begun)).toBe(1);
    const browser = await foyer.signedIn(user);
    const again = () => browser.post('/sign-in', { username: user.email, password });
    const ended = 'foyer_sessions_ended_total';
    expect(await growth(again, ended, { cause: 'replaced' })).toBe(1);
    expect(await growth(() => browser.post('/logout'), ended, { cause: 'sign-out' })).toBe(1);
    await foyer.signedIn(user);
    expect(await growth(() => foyer.app.sessions.endAll(user.id), ended, { cause: 'revoked' })).toBe(2);
  });

  it('The metrics count requests by route pattern and never by path, so that no visitor can create a new series', async () => {
    const user = await foyer.addUser();
    const client = await relyingParty(foyer, await foyer.addClient());
    await tokensFor(client, foyer.browser(), user);
    const browser = foyer.browser();
    for (const path of [
      '/',
      '/tos',
      '/nothing-here',
      '/oauth2/userInfo',
      '/assets/nothing.js',
      '/oauth2/authorize/nothing',
    ])
      await browser.get(path);
    await browser.request('/', { method: 'PROPFIND' });
    // Node's own series come with what the process does meanwhile: what it has open, and the first collection of each kind.
    const series = async () => samplesOf(await read()).filter(({ name }) => !name.startsWith('nodejs_'));
    const before = (await series()).length;
    for (let n = 0; n < 20; n += 1) {
      await browser.get(`/made-up-${n}`);
      await browser.get(`/oauth2/authorize/made-up-${n}`);
      await browser.get(`/assets/made-up-${n}.js`);
    }
    await browser.request('/', { method: 'MKCOL' });
    await new Promise((resolve) => setTimeout(resolve, 20));
    const samples = await series();
    expect(samples.length).toBe(before);
    const routes = new Set(samples.flatMap(({ labels }) => labels.route ?? []));
    for (const route of [
      '/',
      '/tos',
      '/sign-in',
      '/oauth2/authorize',
      '/oauth2/authorize/:uid',
      '/oauth2/token',
      'none',
    ])
      expect([...routes]).toContain(route);
    const refused = { route: '/oauth2/authorize/:uid', method: 'GET', status: '4xx' };
    expect(sampleOf(await read(), 'foyer_http_request_duration_seconds_count', refused)).toBe(21);
  });

  it('The metrics show since when the signing keys sign, and the process itself', async () => {
    const text = await read();
    for (const alg of ['ES256', 'RS256']) {
      const since = sampleOf(text, 'foyer_signing_key_activated_timestamp_seconds', { alg }) ?? 0;
      expect(Math.abs(since - Date.now() / 1000)).toBeLessThan(600);
    }
    for (const name of [
      'nodejs_eventloop_lag_p99_seconds',
      'process_resident_memory_bytes',
      'process_cpu_seconds_total',
    ])
      expect(sampleOf(text, name)).toBeGreaterThanOrEqual(0);
  });
});

describe('the queue of passwords', () => {
  it('The metrics show the length and times of the queue and what it refuses', async () => {
    const metrics = await createMetrics(anyPort);
    const hasher = createPasswordHasher({ queueMax: 1, waitMs: 10_000, metrics });
    const many = Array.from({ length: 64 }, () => hasher.hash(password, 'operator'));
    const during = (await metrics.local?.text()) ?? '';
    const outcomes = await Promise.allSettled(many);
    const refused = outcomes.filter(({ status }) => status === 'rejected').length;
    expect(refused).toBeGreaterThan(0);
    expect(sampleOf(during, 'foyer_password_queue_length')).toBe(1);
    expect(sampleOf(during, 'foyer_password_hashes_running')).toBe(64 - refused - 1);
    const after = (await metrics.local?.text()) ?? '';
    expect(sampleOf(after, 'foyer_password_checks_refused_total', { reason: 'full' })).toBe(refused);
    expect(sampleOf(after, 'foyer_password_hash_duration_seconds_count')).toBe(64 - refused);
    expect(sampleOf(after, 'foyer_password_queue_length')).toBe(0);
  });

  it('A hash that waited too long is refused with another reason', async () => {
    const metrics = await createMetrics(anyPort);
    const hasher = createPasswordHasher({ queueMax: 1_000, waitMs: 1, metrics });
    const outcomes = await Promise.allSettled(Array.from({ length: 64 }, () => hasher.hash(password, 'operator')));
    const late = outcomes.filter(
      (outcome) => outcome.status === 'rejected' && outcome.reason instanceof PasswordQueueFullError,
    );
    expect(late.length).toBeGreaterThan(0);
    const text = (await metrics.local?.text()) ?? '';
    expect(sampleOf(text, 'foyer_password_checks_refused_total', { reason: 'timeout' })).toBe(late.length);
  });
});

it('Without METRICS_PORT nothing is counted', async () => {
  expect(await createMetrics(undefined)).toBe(noMetrics);
});
