import * as oidc from 'openid-client';
import { sha256 } from '../../server/shared/index.ts';
import type { User } from '../../server/users/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toClientId } from '../support/ids.ts';
import { type Begun, type RelyingParty, relyingParty, signInFor } from '../support/relying-party.ts';
import { entriesIn } from '../support/stored.ts';
import { backends } from '../support/stores.ts';
import { type SecondProcess, secondProcess } from './second-process.ts';
import { type Answer, basicOf, callByServer, portOf, send } from './wire.ts';

interface Tokens {
  access_token: string;
  refresh_token: string;
}

/** `security.md`, rule 6: of many redemptions one wins, and a second use revokes the grant. */
describe.each(backends)('redeeming on $name', (backend) => {
  let foyer: TestFoyer;
  let second: SecondProcess;
  let client: Awaited<ReturnType<TestFoyer['addClient']>>;
  let app: RelyingParty;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    second = await secondProcess(foyer);
    client = await foyer.addClient();
    app = await relyingParty(foyer, client);
  });
  afterAll(async () => {
    await second?.close();
    await foyer?.close();
  });

  const call = (fields: Record<string, string>, { port = portOf(foyer.url), authorization = basicOf(client) } = {}) =>
    callByServer(port, '/oauth2/token', fields, { host: new URL(foyer.url).host, authorization });
  const fieldsOf = (home: string, begun: Begun) => ({
    grant_type: 'authorization_code',
    code: new URL(home).searchParams.get('code') ?? '',
    redirect_uri: client.redirectUri,
    code_verifier: begun.verifier,
  });
  const refresh = (refresh_token: string, port?: number) =>
    call({ grant_type: 'refresh_token', refresh_token }, port === undefined ? {} : { port });
  async function codeFor(user?: User) {
    const begun = await app.begin();
    const member = user ?? (await foyer.addUser());
    return { member, begun, fields: fieldsOf(await signInFor(foyer.browser(), begun, member), begun) };
  }
  const tokensOf = (answer: Answer) => JSON.parse(answer.text) as Tokens;
  const errorOf = (answer: Answer) => (JSON.parse(answer.text) as { error: string }).error;
  async function expectDead({ access_token, refresh_token }: Tokens, sub: string): Promise<void> {
    await expect(oidc.fetchUserInfo(app.config, access_token, sub)).rejects.toThrow();
    expect((await oidc.tokenIntrospection(app.config, access_token)).active).toBe(false);
    expect((await oidc.tokenIntrospection(app.config, refresh_token)).active).toBe(false);
    expect((await refresh(refresh_token)).status).toBe(400);
  }

  it('One code sent 50 times at once to two processes gets at most one answer, and no token works afterwards', async () => {
    const { member, fields } = await codeFor();
    const ports = [portOf(foyer.url), second.port];
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => call(fields, { port: ports[at % 2] ?? 0 })),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won.length).toBeLessThanOrEqual(1);
    for (const answer of answers) expect([200, 400]).toContain(answer.status);
    for (const answer of won) await expectDead(tokensOf(answer), member.id);
    // A code of another sign-in stays valid.
    const { fields: other } = await codeFor();
    expect((await call(other)).status).toBe(200);
  });

  /** A sign-in to an app that runs in a browser and has no secret. */
  async function signedIntoBrowserApp() {
    const open = await foyer.addClient({ public: true });
    const party = await relyingParty(foyer, open);
    const [member, begun] = [await foyer.addUser(), await party.begin()];
    const first = await party.redeem(await signInFor(foyer.browser(), begun, member), begun);
    const headers = { host: new URL(foyer.url).host, 'content-type': 'application/x-www-form-urlencoded' };
    const again = (port = portOf(foyer.url), more: { client_id?: string; headers?: Record<string, string> } = {}) => {
      const { client_id = open.id } = more;
      const fields = { grant_type: 'refresh_token', refresh_token: first.refresh_token ?? '', client_id };
      const body = new URLSearchParams(fields).toString();
      return send(port, '/oauth2/token', { method: 'POST', headers: { ...headers, ...more.headers }, body });
    };
    const isAlive = async (token: string) => (await oidc.tokenIntrospection(party.config, token)).active;
    return { party, first, again, isAlive, member };
  }

  it('One refresh token of a browser app sent 20 times at once to two processes gets the same live tokens', async () => {
    const { again, isAlive } = await signedIntoBrowserApp();
    const ports = [portOf(foyer.url), second.port];
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => again(ports[at % 2])));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const tokens = tokensOf(answers[0] as Answer);
    expect([await isAlive(tokens.access_token), await isAlive(tokens.refresh_token)]).toEqual([true, true]);
  });

  it('A refresh token whose first use got no answer, as when its process is killed, is redeemed by one of the retries', async () => {
    const { first, again, isAlive } = await signedIntoBrowserApp();
    // The token is used up, and nothing more was written.
    const { db } = foyer.stores.database;
    const killed = db.updateTable('oidc').set({ consumedAt: foyer.deps.now() }).where('model', '=', 'RefreshToken');
    await killed.where('idHash', '=', sha256(first.refresh_token ?? '')).execute();
    const answers = await Promise.all([again(), again(second.port)]);
    const won = answers.filter(({ status }) => status === 200);
    expect(won.length).toBeGreaterThan(0);
    const tokens = tokensOf(won[0] as Answer);
    expect([await isAlive(tokens.access_token), await isAlive(tokens.refresh_token)]).toEqual([true, true]);
    expect((await again()).text).toBe(won[0]?.text);
  });

  it('A refresh token that is used again after 11 seconds ends its token family', async () => {
    const { again, isAlive } = await signedIntoBrowserApp();
    const rotated = tokensOf(await again());
    foyer.passTime(11_000);
    const late = await again();
    expect([late.status, errorOf(late)]).toEqual([400, 'invalid_grant']);
    expect([await isAlive(rotated.access_token), await isAlive(rotated.refresh_token)]).toEqual([false, false]);
    expect((await again()).status).toBe(400);
  });

  it('A used refresh token sent within ten seconds by another client or with a key is refused and ends its family', async () => {
    const other = await foyer.addClient({ public: true });
    const stolen = await signedIntoBrowserApp();
    const rotated = tokensOf(await stolen.again());
    expect((await stolen.again(undefined, { client_id: other.id })).status).toBe(400);
    expect(await stolen.isAlive(rotated.access_token)).toBe(false);

    const bound = await signedIntoBrowserApp();
    const before = tokensOf(await bound.again());
    const handle = oidc.getDPoPHandle(bound.party.config, await oidc.randomDPoPKeyPair('ES256'));
    await expect(
      oidc.refreshTokenGrant(bound.party.config, bound.first.refresh_token ?? '', undefined, { DPoP: handle }),
    ).rejects.toMatchObject({ error: 'invalid_grant' });
    expect(await bound.isAlive(before.access_token)).toBe(false);
  });

  it('A kept answer is sealed in the store and not given once the sign-in has ended', async () => {
    const { again, member } = await signedIntoBrowserApp();
    const tokens = tokensOf(await again());
    const kept = await entriesIn(foyer.stores, 'refresh-answer:');
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.every(({ ttlMs }) => ttlMs <= 10_000)).toBe(true);
    const stored = (await Promise.all(kept.map(({ key }) => foyer.stores.kv.get(key)))).join();
    expect([stored.includes(tokens.access_token), stored.includes(tokens.refresh_token)]).toEqual([false, false]);
    await foyer.app.sessions.endAll(member.id);
    expect((await again()).status).toBe(400);
  });

  it('A confidential client’s refresh token sent 20 times at once and again is not rotated, and nothing is revoked', async () => {
    const { member, fields } = await codeFor();
    const first = tokensOf(await call(fields));
    const ports = [portOf(foyer.url), second.port];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => refresh(first.refresh_token, ports[at % 2])),
    );
    answers.push(await refresh(first.refresh_token));
    for (const answer of answers) {
      expect([answer.status, tokensOf(answer).refresh_token]).toEqual([200, first.refresh_token]);
    }
    const { access_token } = tokensOf(answers[0] as Answer);
    expect((await oidc.fetchUserInfo(app.config, access_token, member.id)).sub).toBe(member.id);
  });

  it('A code that is used again later revokes everything that its first use gave', async () => {
    const { member, fields } = await codeFor();
    const first = tokensOf(await call(fields));
    const rotated = tokensOf(await refresh(first.refresh_token));
    const again = await call(fields);
    expect([again.status, errorOf(again)]).toEqual([400, 'invalid_grant']);
    await expectDead(rotated, member.id);
    await expectDead(first, member.id);
  });

  it('A code sent by another client or in another client’s name is refused and stays valid for its own client', async () => {
    const { fields } = await codeFor();
    const thief = await foyer.addClient({ redirectUris: [client.redirectUri] });
    const open = await foyer.addClient({ redirectUris: [client.redirectUri], public: true });
    const asOther = await call(fields, { authorization: basicOf(thief) });
    expect([asOther.status, errorOf(asOther)]).toEqual([400, 'invalid_grant']);
    const asPublic = await send(portOf(foyer.url), '/oauth2/token', {
      method: 'POST',
      headers: { host: new URL(foyer.url).host, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ ...fields, client_id: open.id }).toString(),
    });
    expect([asPublic.status, errorOf(asPublic)]).toEqual([400, 'invalid_grant']);
    expect((await call(fields)).status).toBe(200);
  });

  it.each([
    ['no client secret', (id: string) => basicOf({ id, secret: '' })],
    ['a wrong client secret', (id: string) => basicOf({ id, secret: 'foyer_cs_wrong' })],
    ['the stored hash as the client secret', (id: string) => id],
    ['an unknown client', () => basicOf({ id: 'unknown-client', secret: 'x' })],
    ['a client name with a zero byte', () => basicOf({ id: 'client%001', secret: 'x' })],
  ])('A code sent with %s is refused and stays valid', async (_what, authorization) => {
    const { fields } = await codeFor();
    let given = authorization(client.id);
    if (given === client.id) {
      const row = await foyer.stores.database.db
        .selectFrom('clients')
        .select('secretHash')
        .where('id', '=', toClientId(client.id))
        .executeTakeFirstOrThrow();
      given = basicOf({ id: client.id, secret: row.secretHash });
    }
    const answer = await call(fields, { authorization: given });
    expect([400, 401]).toContain(answer.status);
    expect(['invalid_client', 'invalid_request']).toContain(errorOf(answer));
    expect((await call(fields)).status).toBe(200);
  });

  it.each([
    ['no verifier', { code_verifier: '' }],
    ['a wrong verifier', { code_verifier: 'x'.repeat(43) }],
    ['no redirect_uri', { redirect_uri: '' }],
    ['another redirect_uri', { redirect_uri: 'http://127.0.0.1:9/elsewhere' }],
    ['a redirect_uri with a slash more', { redirect_uri: `/` }],
    ['a made-up code', { code: 'x'.repeat(43) }],
    ['a code with a zero byte', { code: 'x\u0000y' }],
  ])('A token request with %s is refused', async (_what, change: Record<string, string>) => {
    const { fields } = await codeFor();
    const wrong: Record<string, string> = { ...fields, ...change };
    if (change.redirect_uri === '/') wrong.redirect_uri = `${client.redirectUri}/`;
    const answer = await call(wrong);
    expect(answer.status).toBe(400);
    expect(['invalid_grant', 'invalid_request']).toContain(errorOf(answer));
  });

  it('An expired code is refused', async () => {
    const { fields } = await codeFor();
    // A code lives for a minute. The clock of the store is the machine's, so the test ends the entry itself.
    const { kv } = foyer.stores;
    expect(await kv.expire(`oidc:AuthorizationCode:${sha256(fields.code)}`, 1)).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 10));
    const answer = await call(fields);
    expect([answer.status, errorOf(answer)]).toEqual([400, 'invalid_grant']);
  });

  it('A code is refused after the user has signed out', async () => {
    const [begun, browser] = [await app.begin(), foyer.browser()];
    const fields = fieldsOf(await signInFor(browser, begun, await foyer.addUser()), begun);
    await browser.post('/logout');
    const answer = await call(fields);
    expect([answer.status, errorOf(answer)]).toEqual([400, 'invalid_grant']);
  });

  it('The id of a pending request, which the browser sees, is refused as a code', async () => {
    const browser = await foyer.signedIn(await foyer.addUser());
    const begun = await app.begin({ prompt: 'login' });
    const landing = (await browser.get(begun.url)).headers.get('location') ?? '';
    const id = new URL(landing, foyer.url).searchParams.get('authorization_code') ?? '';
    const answer = await call({ ...fieldsOf(`${foyer.url}/?code=${id}`, begun) });
    expect([answer.status, errorOf(answer)]).toEqual([400, 'invalid_grant']);
  });

  it('An access token, a refresh token and a code are refused in place of each other', async () => {
    const { member, fields } = await codeFor();
    expect((await refresh(fields.code)).status).toBe(400);
    await expect(oidc.fetchUserInfo(app.config, fields.code, member.id)).rejects.toThrow();
    const tokens = tokensOf(await call(fields));
    expect((await refresh(tokens.access_token)).status).toBe(400);
    await expect(oidc.fetchUserInfo(app.config, tokens.refresh_token, member.id)).rejects.toThrow();
  });
});
