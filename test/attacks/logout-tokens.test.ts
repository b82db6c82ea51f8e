import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type LogoutNotice, PermanentDeliveryError } from '../../server/messages/index.ts';
import { logoutCarrier } from '../../server/oidc/index.ts';
import type { User } from '../../server/users/index.ts';
import type { Browser } from '../support/browser.ts';
import { cliOf } from '../support/cli.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toClientId } from '../support/ids.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';
import { sidOf, type ToldApp, toldApp } from '../support/told-app.ts';

/** Attacks by client apps that get logout tokens, on Foyer, its users and other apps. */
describe.each([anyBackend])('a client app that gets logout tokens', (backend) => {
  let foyer: TestFoyer;
  let app: ToldApp;
  let user: User;
  let browser: Browser;
  let sid: string;
  const open: Server[] = [];
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    user = await foyer.addUser();
  });
  beforeEach(async () => {
    app = await toldApp(foyer);
    browser = await foyer.signedIn(user);
    sid = sidOf(await app.tokens(browser, user));
  });
  afterEach(() => app?.close());
  afterAll(async () => {
    for (const server of open) server.close().closeAllConnections();
    await foyer?.close();
  });

  async function listening(listener: RequestListener): Promise<string> {
    const server = createServer(listener);
    open.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }
  const { promise: never } = Promise.withResolvers<void>();
  const carrier = (settings: Partial<Parameters<typeof logoutCarrier>[0]> = {}) =>
    logoutCarrier({
      database: foyer.deps.database,
      keysBox: foyer.deps.boxes.keys,
      issuer: foyer.url,
      development: true,
      now: foyer.deps.now,
      ...settings,
    });
  /** A message for a deleted client app holds the data of its former registration. */
  const notice = (address: string): LogoutNotice => ({
    channel: 'logout-token',
    clientId: toClientId('gone'),
    sub: user.id,
    sid: 'x',
    address,
    algorithm: 'ES256',
  });
  const rows = () => foyer.deps.database.db.selectFrom('outbox').selectAll().where('recipient', '=', app.id).execute();
  const turn = () => foyer.deps.outboxWorker.turn();

  it('A client app that never answers delays no user’s sign-out', async () => {
    const asked = Promise.withResolvers<() => void>();
    app.answer((_req, res) => asked.resolve(() => res.end()));
    const answer = await browser.post('/logout');
    expect(answer.status).toBe(303);
    const turning = turn();
    const release = await asked.promise;
    // The client app keeps the connection open, and the user does not wait for it.
    const next = await foyer.signedIn(user);
    expect((await next.post('/logout')).status).toBe(303);
    release();
    await turning;
    expect(await rows()).toMatchObject([{ state: 'delivered', sealedPayload: null }]);
  });

  it('A client app that hangs is skipped for a while, so that other apps get their tokens in time', async () => {
    let asked = 0;
    const address = await listening(async () => {
      asked += 1;
      await never;
    });
    const hurried = carrier({ timeoutMs: 100 });
    await expect(hurried.send(notice(address))).rejects.toThrow('no answer within 0.1 seconds');
    for (let n = 0; n < 20; n += 1) await expect(hurried.send(notice(address))).rejects.toThrow('a moment ago');
    expect(asked).toBe(1);
    await hurried.send(notice(app.address));
    foyer.passTime(5_000);
    await expect(hurried.send(notice(address))).rejects.toThrow('no answer');
    expect(asked).toBe(2);
  });

  it('A client app that delays its refusals to hold all places is skipped, too', async () => {
    let asked = 0;
    const address = await listening((_req, res) => {
      asked += 1;
      setTimeout(() => res.writeHead(503).end(), 60);
    });
    const hurried = carrier({ slowMs: 50 });
    await expect(hurried.send(notice(address))).rejects.toThrow('answered 503');
    await expect(hurried.send(notice(address))).rejects.toThrow('a moment ago');
    expect(asked).toBe(1);
    await hurried.send(notice(app.address));
  });

  it('A redirect of the client app is not followed, so that the token goes to the registered address alone', async () => {
    const reached: string[] = [];
    const inside = await listening((req, res) => {
      reached.push(req.url ?? '');
      res.end();
    });
    for (const status of [301, 302, 303, 307, 308]) {
      app.answer((_req, res) => void res.writeHead(status, { location: inside }).end());
      await expect(carrier().send(notice(app.address))).rejects.toThrow(`answered ${status}`);
    }
    expect(reached).toEqual([]);
  });

  it('An endless answer of a client app is not read', async () => {
    const gone = Promise.withResolvers<number>();
    app.answer((_req, res) => {
      const piece = Buffer.alloc(256 * 1024);
      let sent = 0;
      const more = () => {
        while (res.writable && res.write(piece)) sent += piece.length;
        sent += piece.length;
      };
      res
        .writeHead(200)
        .on('drain', more)
        .on('close', () => gone.resolve(sent))
        .on('error', () => {});
      more();
    });
    await carrier().send(notice(app.address));
    // This much fits into the buffers of the connection.
    expect(await gone.promise).toBeLessThan(32 * 1024 * 1024);
  });

  it('A client app that was down gets a fresh logout token when it is back', async () => {
    app.answer((_req, res) => void res.writeHead(503).end());
    await browser.post('/logout');
    await turn();
    expect(await rows()).toMatchObject([{ state: 'waiting', attempts: 1, lastError: 'the client app answered 503' }]);
    foyer.passTime(3 * 60 * 60_000);
    app.answer((_req, res) => void res.writeHead(204).end());
    await turn();
    expect(await rows()).toMatchObject([{ state: 'delivered', lastError: null }]);
    const [first, second] = await Promise.all(
      app.told.map(async ({ token }) => app.check(token).catch(() => undefined)),
    );
    // The earlier logout token has expired.
    expect([first, second?.payload.sid]).toEqual([undefined, sid]);
  });

  it('A refused logout token becomes a dead letter, which the operator sends to the corrected address', async () => {
    app.answer((_req, res) => void res.writeHead(400).end('{"error":"invalid_request"}'));
    await browser.post('/logout');
    await turn();
    expect(await rows()).toMatchObject([{ state: 'dead', attempts: 1, lastError: 'the client app refused it (400)' }]);
    const mended = await toldApp(foyer);
    const operator = cliOf(foyer);
    await operator('client', 'update', app.id, '--backchannel-logout-uri', mended.address);
    await operator('outbox', 'retry', '--all-dead');
    await turn();
    expect(mended.told).toHaveLength(1);
    expect((await app.check(mended.told[0]?.token ?? '')).payload.sid).toBe(sid);
    await mended.close();
  });

  it('A client app that is gone for good is given up after a day', async () => {
    await app.close();
    await browser.post('/logout');
    for (let n = 0; n < 40; n += 1) {
      await turn();
      foyer.passTime(75 * 60_000);
    }
    const [row] = await rows();
    expect(row).toMatchObject({ state: 'dead', lastError: 'cannot be reached: ECONNREFUSED' });
    expect(foyer.logged()).toContain('"channel":"logout-token"');
    app = await toldApp(foyer);
  });

  it('A client app on plain http gets no logout token in production', async () => {
    const { send } = carrier({ development: false });
    await expect(send(notice(app.address))).rejects.toBeInstanceOf(PermanentDeliveryError);
    for (const address of ['file:///etc/passwd', 'https://user@app.example.net/', 'ftp://app.example.net/']) {
      await expect(send(notice(address))).rejects.toBeInstanceOf(PermanentDeliveryError);
    }
    expect(app.told).toEqual([]);
  });

  it('A client app cannot use a logout token to sign a user out or in', async () => {
    await browser.post('/logout');
    expect(await app.heard()).toContain(sid);
    const token = app.told.at(-1)?.token ?? '';
    const again = await foyer.signedIn(user);
    const asked = await again.get(`/oauth2/logout?id_token_hint=${token}`, { from: 'cross-site' });
    expect([asked.status, (await again.get('/settings')).status]).toEqual([200, 200]);
    const bearer = { headers: { authorization: `Bearer ${token}` } };
    for (const path of ['/oauth2/userInfo', '/user/info']) {
      expect((await sendRequest(foyer.url + path, bearer)).status).toBe(401);
    }
  });

  it('A client app learns only of its own sessions: each logout token names one client app', async () => {
    const other = await toldApp(foyer);
    const there = sidOf(await other.tokens(browser, user));
    await browser.post('/logout');
    expect([await app.heard(), await other.heard()]).toEqual([[sid], [there]]);
    for (const [mine, foreign] of [
      [app, other],
      [other, app],
    ] as const) {
      await expect(mine.check(foreign.told.at(-1)?.token ?? '')).rejects.toThrow('"aud"');
      expect(JSON.stringify(await foreign.check(foreign.told.at(-1)?.token ?? ''))).not.toContain(mine.id);
    }
    await other.close();
  });

  it('A reader of the outbox learns of no session', async () => {
    await browser.post('/logout');
    const text = JSON.stringify(await rows());
    expect(text).toContain('"sealedPayload":"');
    for (const secret of [user.id, sid]) expect(text).not.toContain(secret);
    await turn();
  });
});
