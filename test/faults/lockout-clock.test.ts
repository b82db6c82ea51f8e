import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createServers, runCommand } from '../journeys/server-process.ts';
import { Browser } from '../support/browser.ts';
import { backends, type OpenStores } from '../support/stores.ts';
import { startJumpingServer } from './jumping-server.ts';
import { withoutSandbox } from './without-sandbox.ts';

const [secondMs, windowMs, dayMs] = [1_000, 60_000, 86_400_000];
const maxGuesses = 3;
const password = 'three blue boats 71';
const emails = { ada: 'ada@example.com', grace: 'grace@example.com' };

const servers = createServers();
afterAll(() => servers.end());

describe.each(backends)('a locked account and a clock that jumps, with $name', (backend) => {
  let stores: OpenStores;
  let url: string;
  let jumpTo: (ms: number) => Promise<void>;
  let redis: Redis | undefined;

  beforeAll(async () => {
    stores = await backend.open();
    const { dataDir, databaseUrl, redisUrl } = stores.urls;
    const variables: Record<string, string> = {
      ...withoutSandbox(dataDir),
      ...(databaseUrl && { DATABASE_URL: databaseUrl }),
      ...(redisUrl && { REDIS_URL: redisUrl }),
      GUESS_LIMIT_ACCOUNT: String(maxGuesses),
      GUESS_WINDOW_MINUTES: String(windowMs / 60_000),
    };
    if (redisUrl) redis = new Redis(redisUrl);
    for (const email of Object.values(emails)) {
      const words = ['--email', email, '--password', password, '--verified', '--accept-terms'];
      await runCommand(variables, ['user', 'add', ...words]);
    }
    const started = await startJumpingServer(servers, dataDir, variables);
    jumpTo = started.jumpTo;
    url = started.server.url;
  }, 60_000);
  afterAll(async () => {
    redis?.disconnect();
    await servers.endProcesses();
    await stores?.destroy();
  });

  const signIn = (email: string, secret = password) =>
    new Browser(url).post('/sign-in', { username: email, password: secret });
  /** Redis counts the window by its own clock, which no test moves. */
  async function storeMs(): Promise<number> {
    if (!redis) return Date.now();
    const [seconds, micros] = await redis.time();
    return Number(seconds) * 1_000 + Number(micros) / 1_000;
  }
  /** @returns the times between which the window began, by the clock of the store */
  async function lock(email: string) {
    const notBefore = await storeMs();
    await signIn(email, 'a wrong password 1');
    const notAfter = await storeMs();
    for (let n = 1; n < maxGuesses; n += 1) await signIn(email, 'a wrong password 2');
    expect(await waitMs(email)).toBeGreaterThan(0);
    return { notBefore, notAfter };
  }
  /** How long the member with the right password is sent away; 0: signed in. */
  async function waitMs(email: string): Promise<number> {
    const { status, headers } = await signIn(email);
    if (status === 303) return 0;
    expect(status).toBe(429);
    return Number(headers.get('retry-after')) * secondMs;
  }

  async function expectEndOfRedis() {
    const { notBefore, notAfter } = await lock(emails.ada);
    for (const ahead of [windowMs + secondMs, dayMs, 0, -dayMs]) {
      await jumpTo(ahead);
      const before = await storeMs();
      const wait = await waitMs(emails.ada);
      expect(wait).toBeGreaterThan(0);
      expect(wait).toBeGreaterThanOrEqual(notBefore + windowMs - (await storeMs()));
      // The header has whole seconds, rounded up.
      expect(wait).toBeLessThanOrEqual(notAfter + windowMs - before + secondMs);
    }
    for (let before = await storeMs(); (await waitMs(emails.ada)) > 0; before = await storeMs()) {
      expect(before).toBeLessThanOrEqual(notAfter + windowMs);
      await sleep(secondMs);
    }
    expect(await storeMs()).toBeGreaterThanOrEqual(notBefore + windowMs);
  }

  async function expectEndOfServer() {
    await lock(emails.ada);
    await lock(emails.grace);
    await jumpTo(-dayMs);
    const wait = await waitMs(emails.ada);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(windowMs);
    await jumpTo(-dayMs + windowMs - 30 * secondMs);
    expect(await waitMs(emails.ada)).toBeGreaterThan(0);
    await jumpTo(-dayMs + windowMs + secondMs);
    expect(await waitMs(emails.ada)).toBe(0);
    await jumpTo(windowMs + secondMs);
    expect(await waitMs(emails.grace)).toBe(0);
  }

  it('No jump of a server’s clock moves a lockout in Redis, and one in the embedded store lasts at most one window', async () => {
    await (stores.kv.kind === 'redis' ? expectEndOfRedis() : expectEndOfServer());
  }, 120_000);
});
