import * as oidc from 'openid-client';
import { createMetrics, type OpenMetrics } from '../../server/metrics/index.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type Overheard, overhear } from '../support/overhear.ts';
import { behindProxies } from '../support/proxy.ts';
import { relyingParty, signInFor, tokensFor } from '../support/relying-party.ts';
import { backends, secondBackends } from '../support/stores.ts';
import { inHeaders, runAllFlows } from './log-secrets-flows.ts';

const secretKey = 'the key of this test of which the log must know nothing at all';
function expectSilence(foyer: TestFoyer, overheard: Overheard, more = ''): void {
  expect(overheard.foundIn(foyer.logged() + more)).toEqual([]);
}

describe.each(backends)('secrets and the log on $name', (backend) => {
  let foyer: TestFoyer;
  let metrics: OpenMetrics;
  let overheard: Overheard;
  beforeAll(async () => {
    metrics = await createMetrics(1);
    foyer = await startFoyer(backend, { SECRET_KEY: secretKey }, { metrics });
    overheard = overhear();
    overheard.add('SECRET_KEY', secretKey);
    overheard.add('part of a header', inHeaders);
    await runAllFlows(foyer, overheard);
  }, 60_000);
  afterAll(async () => {
    overheard?.stop();
    await foyer?.close();
  });

  it('No secret of all flows is in the log at its most verbose level or in the metrics', async () => {
    expectSilence(foyer, overheard, await metrics.local?.text());
  });

  it('No secret of all flows is in the audit trail, which has the events of the flows', async () => {
    await foyer.app.audit.seal();
    const events = await foyer.deps.database.db.selectFrom('auditEvents').selectAll().execute();
    expect(new Set(events.map(({ type }) => type)).size).toBeGreaterThan(3);
    expect(overheard.foundIn(events.map(({ body, person }) => `${body} ${person}`).join('\n'))).toEqual([]);
  });

  it('The test has recorded the secrets of every kind, and the log contains the flows', () => {
    for (const name of [
      ...['username', 'password', 'code', 'state', 'nonce', 'code_verifier', 'code_challenge', 'authorization_code'],
      ...[
        'access_token',
        'refresh_token',
        'id_token',
        'parts of id_token',
        'client secret',
        'client_secret',
        'id_token_hint',
      ],
      ...['cookie foyer_session', 'parts of cookie foyer_session', 'cookie foyer_op', 'cookie foyer_op_interaction'],
      ...['cookie foyer_reset', 'confirm', 'flow', 'newPassword', 'oldPassword'],
      ...['cookie foyer_challenge', 'cookie foyer_remembered', 'secret of an app', 'recovery code', 'text message'],
      ...['cookie foyer_op_resume', 'SECRET_KEY', 'body that is no JSON', 'email'],
    ])
      expect([...overheard.names]).toContain(name);
    expect(overheard.secrets.size).toBeGreaterThan(100);
    const lines = foyer.logged().split('\n');
    // LOG_LEVEL=debug writes level 20; this log has everything from 10 (trace) on.
    expect(lines.filter((line) => line.startsWith('{"level":20,')).length).toBeGreaterThan(50);
    expect(lines.some((line) => line.includes('content encoding') || line.includes('encoding of the body'))).toBe(true);
    expect(lines.length).toBeGreaterThan(100);
    for (const message of [
      'sign-in',
      'second factor',
      're-authentication',
      'form',
      'password changed',
      'request refused',
      'request completed',
    ])
      expect(lines.some((line) => line.includes(`"msg":"${message}"`))).toBe(true);
  });

  it('A secret in the log would be found by this test', () => {
    const [value = ''] = [...overheard.secrets].find(([, name]) => name === 'cookie foyer_session') ?? [];
    expect(overheard.foundIn(`{"msg":"${value}"}`)).toContain(`cookie foyer_session: ${value}`);
    expect(overheard.foundIn(`{"msg":"${encodeURIComponent(value)}"}`)).toContain(`cookie foyer_session: ${value}`);
    const [code = ''] = [...overheard.secrets].find(([, name]) => name === 'text message') ?? [];
    expect(code).toMatch(/^\d{6}$/);
    expect(overheard.foundIn(`{"url":"/second-factor?code=${code}"}`)).toContain(`text message: ${code}`);
  });
});

const [servers] = secondBackends;
if (servers) {
  it.each(['database', 'keyValue'] as const)('An outage of the %s puts no secret into the log', async (store) => {
    const { backend, proxies } = behindProxies(servers);
    const foyer = await startFoyer(backend, { SECRET_KEY: secretKey });
    const overheard = overhear();
    try {
      const user = await foyer.addUser();
      const client = await relyingParty(foyer, await foyer.addClient());
      const browser = foyer.browser();
      const tokens = await tokensFor(client, browser, user);
      const begun = await client.begin();
      const callback = await signInFor(browser, begun, user);
      proxies[store]().cut();
      await client.redeem(callback, begun).catch(() => {});
      await oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '').catch(() => {});
      await oidc.fetchUserInfo(client.config, tokens.access_token, user.id).catch(() => {});
      const answers = [
        await browser.get((await client.begin()).url),
        await browser.post('/sign-in', { username: user.email, password }),
        await browser.get('/'),
      ];
      expect(answers.map(({ status }) => status)).toContain(503);
      expect(foyer.logged()).toMatch(/"level":50,.*(PostgreSQL|Redis)/);
      expectSilence(foyer, overheard);
    } finally {
      overheard.stop();
      await foyer.close();
    }
  });
}
