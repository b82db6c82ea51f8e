import { connect } from 'node:net';
import { portOf, type Sent, send } from '../attacks/wire.ts';
import type { Browser } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { waitFor } from '../support/wait-for.ts';

/** Visitors may have 12 requests in progress, members 17. */
const limits = { REQUESTS_MAX: '20', GUESS_LIMIT_ADDRESS: '100000', GUESS_LIMIT_OVERALL: '100000' };
const capacity = 12;

/** Each check of a password waits until the test lets it continue: a host that is as slow as the test wants. */
function heldHasher() {
  const held = { checking: 0, gate: Promise.resolve(), open: () => {} };
  const hasher = {
    hash: async (given: string) => `plain:${given}`,
    async verify(hash: string | null, given: string) {
      held.checking += 1;
      await held.gate;
      held.checking -= 1;
      return hash === `plain:${given}`;
    },
  };
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held.gate = promise;
    held.open = resolve;
  };
  return { held, hasher, hold };
}

const page = { accept: 'text/html,application/xhtml+xml', 'accept-language': 'en' };
const stored = { passwordHash: 'plain:correct horse 9' };

describe.each(backends)('ten times as many requests as can be served, on $name', (backend) => {
  let foyer: TestFoyer;
  let member: Browser;
  const { held, hasher, hold } = heldHasher();
  const ask = (path: string, sent: Sent = {}) =>
    send(portOf(foyer.url), path, { ...sent, headers: { host: new URL(foyer.url).host, ...page, ...sent.headers } });
  let strangers = 0;
  /** Of a new stranger, because each account has a limit of guesses. */
  const form = (): Sent => ({
    method: 'POST',
    headers: {
      origin: foyer.url,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ username: `stranger${strangers++}@example.com`, password: 'wrong horse 9' }).toString(),
  });
  const signIn = () => ask('/sign-in', form());
  const cookieOf = async (browser: Browser) => browser.jar.getCookieString(foyer.url);

  /** Fills all places of visitors, and runs `act` meanwhile. All that were admitted are answered in the end. */
  async function whileFull<T>(act: () => Promise<T>): Promise<T> {
    hold();
    const answered: number[] = [];
    const all: Promise<unknown>[] = [];
    // A request counts until its connection knows of its end, which a client may see first.
    await waitFor(async () => {
      while (all.length - answered.length < capacity) all.push(signIn().then(({ status }) => answered.push(status)));
      await waitFor(() => expect(held.checking).toBe(all.length - answered.length), 20_000);
      expect(held.checking).toBe(capacity);
    }, 20_000);
    try {
      return await act();
    } finally {
      held.open();
      await Promise.all(all);
      expect(answered.filter((status) => status !== 503)).toHaveLength(capacity);
    }
  }

  beforeAll(async () => {
    foyer = await startFoyer(backend, limits, { passwords: hasher });
    member = await foyer.signedIn(await foyer.addUser(stored));
  });
  afterAll(() => foyer?.close());

  it('Those that are admitted finish, the others get 503 with Retry-After while these still wait, and then all are admitted', async () => {
    hold();
    const answers: { status: number; retry: string | undefined }[] = [];
    const all = Array.from({ length: 10 * capacity }, async () => {
      const { status, headers } = await signIn();
      answers.push({ status, retry: headers['retry-after'] });
    });
    await waitFor(() => expect(answers.length + held.checking).toBe(10 * capacity), 20_000);
    expect(held.checking).toBe(capacity);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    for (const { retry } of answers) expect(Number(retry)).toBeGreaterThanOrEqual(2);
    held.open();
    await Promise.all(all);
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(capacity);
    expect((await Promise.all([signIn(), ask('/'), ask('/signup')])).map(({ status }) => status)).toEqual([
      303, 200, 200,
    ]);
  });

  it('Meanwhile members, calls that finish something and probes are answered, and files are served', async () => {
    const cookie = await cookieOf(member);
    await whileFull(async () => {
      expect((await ask('/')).status).toBe(503);
      expect((await ask('/', { headers: { cookie } })).status).not.toBe(503);
      expect((await ask('/settings', { headers: { cookie } })).status).toBe(200);
      for (const probe of ['/healthz', '/readyz']) expect((await ask(probe)).status).toBe(200);
      expect((await ask('/assets/none-12345678.js')).status).toBe(404);
      for (const path of ['/oauth2/token', '/webhooks/stripe']) {
        expect((await ask(path, { method: 'POST' })).status).not.toBe(503);
      }
    });
  });

  it('At the limit of members a form with a session is still served, and at the last limit nothing is', async () => {
    const cookie = await cookieOf(member);
    const other = await cookieOf(await foyer.signedIn(await foyer.addUser(stored)));
    const confirm = (by: string): Sent => {
      const { headers, ...sent } = form();
      return { ...sent, headers: { ...headers, cookie: by }, body: 'password=correct+horse+9' };
    };
    await whileFull(async () => {
      const send5 = Array.from({ length: 5 }, () => ask('/re-authenticate?redirect=/settings', confirm(cookie)));
      await waitFor(() => expect(held.checking).toBe(17), 20_000);
      expect((await ask('/settings', { headers: { cookie } })).status).toBe(503);
      const send3 = Array.from({ length: 3 }, () => ask('/re-authenticate?redirect=/settings', confirm(other)));
      await waitFor(() => expect(held.checking).toBe(20), 20_000);
      const refused = await ask('/re-authenticate?redirect=/settings', confirm(other));
      expect(refused.status).toBe(503);
      held.open();
      expect((await Promise.all([...send5, ...send3])).map(({ status }) => status)).toEqual(Array(8).fill(303));
    });
  });

  it('A refused visit gets a page in its language, a refused form the advice to send it again, and a call a problem', async () => {
    await whileFull(async () => {
      const visit = await ask('/', { headers: { 'accept-language': 'de' } });
      expect(visit.text).toContain('Hier ist gerade viel los');
      expect(visit.text).toContain('Erneut versuchen');
      expect(visit.headers['content-security-policy']).toContain("script-src 'none'");
      expect(visit.headers['cache-control']).toBe('no-store');
      expect(visit.headers['x-content-type-options']).toBe('nosniff');
      expect((await signIn()).text).toContain('Reload this page in a few seconds to send your form again.');
      const call = await ask('/identity/currentUser', { headers: { accept: 'application/json' } });
      expect(call.headers['content-type']).toBe('application/problem+json');
      expect(JSON.parse(call.text)).toMatchObject({ type: 'urn:foyer:problem:busy', status: 503 });
      const app = await ask('/oauth2/par', { method: 'POST', headers: { accept: '*/*' } });
      expect([app.status, JSON.parse(app.text).error]).toEqual([503, 'temporarily_unavailable']);
    });
  });

  it('Hundreds of refusals are one line of the log in a minute', () => {
    const lines = foyer
      .logged()
      .split('\n')
      .filter((line) => line.includes('"act":"overload"'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toContain('stranger');
  });

  describe('attack: more than its share', () => {
    it.each([
      ['a forged session', () => 'foyer_session=s%3Aforged.c2lnbmF0dXJl'],
      ['a forged mark', () => 'foyer_returning=AAAAAAAAAAAA.c2lnbmF0dXJl; foyer_session=s%3Aforged.c2lnbmF0dXJl'],
      [
        'a mark with another signature',
        async () =>
          (await cookieOf(member)).replace(
            /(foyer_returning=)(..)/,
            (_, name, first) => name + (first === 'zz' ? 'yy' : 'zz'),
          ),
      ],
    ])('A browser with %s is refused like any visitor', async (_name, makeCookie) => {
      const cookie = await makeCookie();
      await whileFull(async () => expect((await ask('/', { headers: { cookie } })).status).toBe(503));
    });

    it('One real cookie that is sent a hundred times at once is preferred ten times a second', async () => {
      const cookie = await cookieOf(await foyer.signedIn(await foyer.addUser(stored)));
      await whileFull(async () => {
        const beganMs = performance.now();
        const answers = await Promise.all(Array.from({ length: 100 }, () => ask('/', { headers: { cookie } })));
        const seconds = Math.ceil((performance.now() - beganMs) / 1_000) + 1;
        const admitted = answers.filter(({ status }) => status !== 503).length;
        expect(admitted).toBeGreaterThanOrEqual(1);
        expect(admitted).toBeLessThanOrEqual(10 * seconds);
      });
    });

    it('Calls without proof from one address are preferred fifty times a second', async () => {
      await whileFull(async () => {
        const beganMs = performance.now();
        const answers = await Promise.all(
          Array.from({ length: 400 }, () => ask('/oauth2/token', { method: 'POST', headers: { accept: '*/*' } })),
        );
        const seconds = Math.ceil((performance.now() - beganMs) / 1_000) + 1;
        const admitted = answers.filter(({ status }) => status !== 503).length;
        expect(admitted).toBeLessThanOrEqual(50 * seconds);
      });
    });

    it('Bodies that never arrive take no place of the requests', async () => {
      const host = new URL(foyer.url).host;
      const sockets = Array.from({ length: 3 * capacity }, () => {
        const socket = connect({ port: portOf(foyer.url), host: '127.0.0.1' });
        socket.on('error', () => {});
        socket.write(`POST /sign-in HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 100\r\n\r\nusername=`);
        return socket;
      });
      try {
        await waitFor(async () => expect((await ask('/')).status).toBe(200), 20_000);
      } finally {
        for (const socket of sockets) socket.destroy();
      }
      await waitFor(async () => expect((await ask('/')).status).toBe(200), 20_000);
      await whileFull(async () => expect((await ask('/')).status).toBe(503));
    });
  });
});
