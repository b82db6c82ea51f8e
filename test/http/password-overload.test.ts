import { connect } from 'node:net';
import type { PasswordHasher } from '../../server/password/index.ts';
import { portOf, type Sent, send } from '../attacks/wire.ts';
import type { Browser } from '../support/browser.ts';
import { listenOnFreePort, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { waitFor } from '../support/wait-for.ts';

/** Of 100 places strangers have 60 and members 85. All requests of the test come from one address. */
const limits = {
  PASSWORD_QUEUE_MAX: '100',
  PASSWORD_QUEUE_RETRY_SECONDS: '7',
  PASSWORD_QUEUE_ADDRESS: '100',
  GUESS_LIMIT_ADDRESS: '100000',
  GUESS_LIMIT_OVERALL: '100000',
};
const right = 'correct horse 9';
const page = { accept: 'text/html,application/xhtml+xml', 'accept-language': 'en' };

/** A hasher with as long a queue as the test wants. */
function crowdedHasher() {
  const crowd = { waiting: 0, turnMs: 0, checked: 0, gate: Promise.resolve(), open: () => {} };
  const hasher: PasswordHasher = {
    hash: async (given) => `plain:${given}`,
    async verify(hash, given) {
      crowd.checked += 1;
      await crowd.gate;
      return hash === `plain:${given}`;
    },
    queue: () => ({ running: 0, waiting: crowd.waiting, turnMs: crowd.turnMs }),
  };
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    Object.assign(crowd, { gate: promise, open: resolve });
  };
  return { crowd, hasher, hold };
}

describe.each(backends)('more passwords than can be hashed, on $name', (backend) => {
  let foyer: TestFoyer;
  let member: Browser;
  let email: string;
  const { crowd, hasher, hold } = crowdedHasher();
  const ask = (path: string, sent: Sent = {}) =>
    send(portOf(foyer.url), path, { ...sent, headers: { host: new URL(foyer.url).host, ...page, ...sent.headers } });
  const form = (fields: Record<string, string>, headers: Record<string, string> = {}): Sent => ({
    method: 'POST',
    headers: {
      origin: foyer.url,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/x-www-form-urlencoded',
      ...headers,
    },
    body: new URLSearchParams(fields).toString(),
  });
  let strangers = 0;
  const stranger = (headers?: Record<string, string>) => {
    strangers += 1;
    return form({ username: `stranger${strangers}@example.com`, password: 'wrong horse 9' }, headers);
  };
  const cookieOf = (browser: Browser) => browser.jar.getCookieString(foyer.url);
  /** The cookies of a browser whose session has ended. */
  const withoutSession = async () => (await cookieOf(member)).replace(/(?:__Host-)?foyer_session=[^;]*;? ?/, '');

  beforeAll(async () => {
    foyer = await startFoyer(backend, limits, { passwords: hasher });
    const user = await foyer.addUser({ passwordHash: `plain:${right}` });
    email = user.email;
    member = await foyer.signedIn(user);
  });
  beforeEach(() => Object.assign(crowd, { waiting: 0, turnMs: 0, gate: Promise.resolve() }));
  afterAll(() => foyer?.close());

  it('A stranger’s sign-in is answered 503 itself, with Retry-After and a page in the visitor’s language', async () => {
    crowd.waiting = 60;
    const answer = await ask('/sign-in', stranger({ 'accept-language': 'de' }));
    expect([answer.status, answer.headers['retry-after'], answer.headers.location]).toEqual([503, '7', undefined]);
    expect(answer.text).toContain('<html lang="de"');
    expect(answer.text).toContain('Gerade melden sich zu viele Menschen an. Es wurde nichts geändert.');
    expect(answer.text).toContain('Bitte warten Sie 7 Sekunden');
    expect(answer.text).toMatch(/<a [^>]*href=""[^>]*>Zurück zum Formular<\/a>/);
    expect(answer.text).not.toContain('<script');
    expect(answer.headers['content-security-policy']).toContain("script-src 'none'");
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
  });

  it('The language that was chosen here counts, and each language has its own page', async () => {
    crowd.waiting = 60;
    const chosen = await ask('/sign-in', stranger({ cookie: 'foyer_lang=fr' }));
    expect(chosen.text).toContain('Trop de personnes se connectent en ce moment.');
    for (const [lang, text] of [
      ['en', 'Too many people are signing in right now. Nothing has been changed.'],
      ['nl', 'Er loggen nu te veel mensen in.'],
    ] as const)
      expect((await ask('/sign-in', stranger({ 'accept-language': lang }))).text).toContain(text);
  });

  it('A refusal is given at once: it reads and writes no store, hashes nothing, and sets no cookie', async () => {
    const { kv, database } = foyer.stores;
    const names = ['get', 'set', 'setIfAbsent', 'delete', 'consume', 'consumeCount', 'expire'] as const;
    const spies: { mock: { calls: unknown[] }; mockClear(): unknown; mockRestore(): void }[] = names.map((name) =>
      jest.spyOn(kv, name),
    );
    spies.push(jest.spyOn(database.db, 'selectFrom'), jest.spyOn(database, 'transaction'));
    /** What the product had done when its handler returned. */
    const atOnce: { isAnswered: boolean; calls: number }[] = [];
    const { server, port } = await listenOnFreePort((req, res) => {
      for (const spy of spies) spy.mockClear();
      foyer.app.app(req, res);
      atOnce.push({
        isAnswered: res.writableEnded,
        calls: spies.reduce((sum, { mock }) => sum + mock.calls.length, 0),
      });
    });
    const before = crowd.checked;
    try {
      crowd.waiting = 85;
      for (const cookie of ['', await withoutSession(), 'foyer_session=s%3Aforged.c2lnbmF0dXJl']) {
        const { headers, ...sent } = form({ username: email, password: right }, { cookie });
        const host = new URL(foyer.url).host;
        const answer = await send(port, '/sign-in', { ...sent, headers: { ...page, ...headers, host } });
        expect([answer.status, answer.headers['set-cookie']]).toEqual([503, undefined]);
      }
      expect(atOnce).toEqual(Array(3).fill({ isAnswered: true, calls: 0 }));
      expect(crowd.checked).toBe(before);
    } finally {
      for (const spy of spies) spy.mockRestore();
      server.close();
    }
  });

  it('attack: a refusal does not tell whether the account exists, or the password is right', async () => {
    crowd.waiting = 60;
    const bodies = [
      { username: email, password: right },
      { username: email, password: 'wrong horse 9' },
      { username: 'none@example.com', password: 'wrong horse 9' },
      { username: '', password: '' },
    ];
    const answers = await Promise.all(bodies.map((body) => ask('/sign-in', form(body))));
    const seen = answers.map(({ status, text, headers }) => {
      const { date: _date, ...others } = headers;
      return JSON.stringify([status, text, others]);
    });
    expect(new Set(seen).size).toBe(1);
  });

  it('Strangers are refused at 60 of 100, members’ browsers at 85, members with a session at 100', async () => {
    const [gone, session] = [await withoutSession(), await cookieOf(member)];
    const statuses = async () => {
      const answers = [
        await ask('/sign-in', stranger()),
        await ask('/sign-in', form({ username: email, password: 'wrong horse 9' }, { cookie: gone })),
        await ask('/re-authenticate?redirect=/settings', form({ password: 'wrong horse 9' }, { cookie: session })),
      ];
      return answers.map(({ status }) => status);
    };
    const rows: [number, number[]][] = [
      [59, [303, 303, 303]],
      [60, [503, 303, 303]],
      [84, [503, 303, 303]],
      [85, [503, 503, 303]],
      [99, [503, 503, 303]],
      [100, [503, 503, 503]],
    ];
    for (const [waiting, expected] of rows) {
      crowd.waiting = waiting;
      expect({ waiting, statuses: await statuses() }).toEqual({ waiting, statuses: expected });
    }
  });

  it('A queue that is short but slow refuses strangers at 2 s, a quarter of the longest wait', async () => {
    Object.assign(crowd, { waiting: 20, turnMs: 99 });
    expect((await ask('/sign-in', stranger())).status).toBe(303);
    crowd.turnMs = 100;
    expect((await ask('/sign-in', stranger())).status).toBe(503);
    Object.assign(crowd, { waiting: 19, turnMs: 5_000 });
    expect((await ask('/sign-in', stranger())).status).toBe(303);
  });

  it('Every form and call that hashes a password is refused; pages and other forms are not', async () => {
    crowd.waiting = 100;
    for (const path of [
      '/sign-in?redirect=%2Fsettings',
      '/signup',
      '/signup/plan/abc',
      '/reset-password?username=a%40example.com',
      '/undo-email-change',
      '/re-authenticate',
      '/settings/password',
    ])
      expect([path, (await ask(path, form({}))).status]).toEqual([path, 503]);
    for (const path of ['/identity/signUp', '/identity/forgotPasswordSubmit', '/identity/changePassword']) {
      const call = await ask(path, { method: 'POST', headers: { accept: 'application/json' } });
      expect([path, call.status, call.headers['content-type']]).toEqual([path, 503, 'application/problem+json']);
      expect(JSON.parse(call.text)).toMatchObject({ type: 'urn:foyer:problem:busy', status: 503, retryAfter: 7 });
    }
    for (const path of ['/', '/signup', '/forgot-password']) expect((await ask(path)).status).toBe(200);
    expect((await ask('/forgot-password', form({ username: 'a@example.com' }))).status).not.toBe(503);
    expect((await ask('/sign-in', { headers: { cookie: await cookieOf(member) } })).status).not.toBe(503);
  });

  it('A burst is refused before its first password waits, and all are admitted when it is over', async () => {
    hold();
    const before = crowd.checked;
    const statuses: number[] = [];
    const all = Array.from({ length: 200 }, async () => statuses.push((await ask('/sign-in', stranger())).status));
    await waitFor(() => expect(statuses.length + crowd.checked - before).toBe(200), 20_000);
    expect(statuses).toEqual(Array(140).fill(503));
    crowd.open();
    await Promise.all(all);
    await waitFor(async () => expect((await ask('/sign-in', stranger())).status).toBe(303));
  });

  it('attack: bodies that never arrive take no place of the queue', async () => {
    const host = new URL(foyer.url).host;
    const sockets = Array.from({ length: 90 }, () => {
      const socket = connect({ port: portOf(foyer.url), host: '127.0.0.1' });
      socket.on('error', () => {});
      socket.write(`POST /sign-in HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 100\r\n\r\nusername=`);
      return socket;
    });
    try {
      await waitFor(async () => expect((await ask('/sign-in', stranger())).status).toBe(303), 20_000);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});

describe.each(backends)('one network that sends many passwords, on $name', (backend) => {
  it('attack: it displaces no one: it counts for no more than the queue takes of it', async () => {
    const { crowd, hasher, hold } = crowdedHasher();
    const foyer = await startFoyer(
      backend,
      { ...limits, PASSWORD_QUEUE_MAX: '50', PASSWORD_QUEUE_ADDRESS: '10', PASSWORD_QUEUE_FULL_STATUS: '429' },
      { passwords: hasher },
    );
    try {
      hold();
      const post = (username: string) =>
        send(portOf(foyer.url), '/sign-in', {
          method: 'POST',
          headers: {
            host: new URL(foyer.url).host,
            ...page,
            'sec-fetch-site': 'same-origin',
            'content-type': 'application/x-www-form-urlencoded',
          },
          body: new URLSearchParams({ username, password: 'wrong horse 9' }).toString(),
        });
      const all = Array.from({ length: 40 }, (_, n) => post(`flood${n}@example.com`));
      await waitFor(() => expect(crowd.checked).toBe(40), 20_000);
      crowd.open();
      expect(new Set((await Promise.all(all)).map(({ status }) => status))).toEqual(new Set([303]));
      crowd.waiting = 30;
      const refused = await post('late@example.com');
      expect([refused.status, refused.headers['retry-after']]).toEqual([429, '7']);
    } finally {
      await foyer.close();
    }
  });
});
