import { rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import * as oidc from 'openid-client';
import { demoMember } from '../../sandbox/index.ts';
import { sampleOf } from '../metrics/read.ts';
import { Browser } from '../support/browser.ts';
import { relyingParty, signInFor } from '../support/relying-party.ts';
import { freePort } from '../support/services.ts';
import { type Asked, steadyLoad } from '../support/steady-load.ts';
import { anyBackend, backends } from '../support/stores.ts';
import { isRunning, until, workersOf } from '../support/workers.ts';
import { copyPrepared } from './prepared-folder.ts';
import { production } from './production.ts';
import { createServers, type ServerProcess } from './server-process.ts';

const servers = createServers();
afterAll(() => servers.end());

/** Some hundred requests in the seconds that a worker needs to start, and the rest of the processor is left to it. */
const pauseMs = 50;
const two = { WEB_CONCURRENCY: '2', LOG_LEVEL: 'debug' };
/** One machine stands for many members here. */
const manyGuesses = {
  PASSWORD_LIMIT_DEVICE: '100000',
  PASSWORD_LIMIT_MEMBER: '100000',
  PASSWORD_QUEUE_ACCOUNT: '1000',
  PASSWORD_QUEUE_ADDRESS: '1000',
  GUESS_LIMIT_ACCOUNT: '100000',
  GUESS_LIMIT_ADDRESS: '100000',
  GUESS_LIMIT_DEVICE: '100000',
};

async function signedIn(server: ServerProcess): Promise<Browser> {
  const browser = new Browser(server.url);
  const answer = await browser.post('/sign-in', { username: demoMember.email, password: demoMember.password });
  expect(answer.status).toBe(303);
  return browser;
}

/** A visitor's page, and a member's: who has lost the session would get the visitor's. */
async function visitorAndMember(server: ServerProcess, member: Browser): Promise<Asked[]> {
  const host = new URL(server.url).host;
  const cookie = await member.jar.getCookieString(server.url);
  return [
    { path: '/', headers: { host, accept: 'text/html' }, expected: 200 },
    { path: '/', headers: { host, cookie, accept: 'text/html' }, expected: 303 },
  ];
}

/** Which processes have answered requests for a path. */
function servedBy(server: ServerProcess, path: string): Set<number> {
  const lines = server
    .stdout()
    .split('\n')
    .filter((line) => line.includes('"request completed"'));
  const served = lines.map((line) => JSON.parse(line) as { pid: number; path: string });
  return new Set(served.filter((line) => line.path === path).map(({ pid }) => pid));
}

/** A sign-in whose head the server has read, on a connection of its own; the password comes with `finish`. */
function beginSignIn(server: ServerProcess): Promise<() => Promise<number | string>> {
  const body = new URLSearchParams({ username: demoMember.email, password: demoMember.password }).toString();
  const asked = request(`${server.url}/sign-in`, {
    method: 'POST',
    agent: false,
    headers: {
      origin: server.url,
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': String(body.length),
      expect: '100-continue',
    },
  });
  const status = new Promise<number | string>((resolve) => {
    asked.once('response', (answer) => resolve(answer.resume().statusCode ?? 0));
    asked.once('error', (error) => resolve(error.message));
  });
  return new Promise((resolve) => {
    asked.once('continue', () =>
      resolve(() => {
        asked.end(body);
        return status;
      }),
    );
    asked.flushHeaders();
  });
}

async function wholeJourney(server: ServerProcess): Promise<void> {
  const client = { id: 'demo-app', secret: null, redirectUri: `${server.demoUrl}/callback` };
  const party = await relyingParty(server, client);
  // A connection that is kept stays with its worker; each of these is a new choice.
  const browser = new Browser(server.url, { connection: 'close' });
  const begun = await party.begin();
  const callback = await signInFor(browser, begun, demoMember, demoMember.password);
  const tokens = await party.redeem(callback, begun);
  const subject = tokens.claims()?.sub ?? '';
  expect((await oidc.fetchUserInfo(party.config, tokens.access_token, subject)).email).toBe(demoMember.email);
  const refreshed = await oidc.refreshTokenGrant(party.config, tokens.refresh_token ?? '');
  const silent = await party.begin({ prompt: 'none' });
  await party.redeem(await signInFor(browser, silent, demoMember), silent);
  expect((await browser.post('/logout')).status).toBe(303);
  await expect(oidc.refreshTokenGrant(party.config, refreshed.refresh_token ?? '')).rejects.toMatchObject({
    error: 'invalid_grant',
  });
}

/** Workers that die at their start for as long as this file is there; the primary is whole. */
const dyingWhile = (file: string) => [
  '--import',
  `data:text/javascript,${encodeURIComponent(
    `import cluster from 'node:cluster'; import { existsSync } from 'node:fs';
     if (cluster.isWorker && existsSync(${JSON.stringify(file)})) process.exit(3)`,
  )}`,
];

describe.each(backends)('two workers on $name', (backend) => {
  let server: ServerProcess;
  let fault: string;
  let metricsPort: number;
  let remove: () => Promise<void>;
  const metrics = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const signIns = async () => sampleOf(await metrics(), 'foyer_sign_ins_total', { result: 'signed-in' }) ?? 0;

  beforeAll(async () => {
    const reserved = await backend.reserve();
    remove = reserved.remove;
    const { databaseUrl, redisUrl, dataDir } = reserved.urls;
    await copyPrepared(dataDir);
    fault = join(dataDir, 'fault');
    metricsPort = await freePort();
    server = await servers.start(
      {
        ...two,
        ...manyGuesses,
        METRICS_PORT: String(metricsPort),
        DATABASE_URL: databaseUrl,
        REDIS_URL: redisUrl,
        DATA_DIR: dataDir,
      },
      { nodeOptions: dyingWhile(fault) },
    );
    await server.ready;
  }, 30_000);
  afterAll(async () => {
    server?.signal('SIGKILL');
    await server?.ended;
    await remove?.();
  });

  it('Two workers serve the same users, sessions, codes and tokens', async () => {
    const paths = ['/sign-in', '/storage', '/oauth2/authorize', '/oauth2/token', '/logout'];
    const byBoth = () => paths.filter((path) => servedBy(server, path).size === 2);
    let journeys = 0;
    // Which worker takes a connection is the system's choice, so it takes as many as it takes.
    while (byBoth().length < paths.length && journeys < 80) {
      await Promise.all(Array.from({ length: 8 }, () => wholeJourney(server)));
      journeys += 8;
    }
    expect(byBoth()).toEqual(paths);
    expect(await signIns()).toBe(journeys);
  });

  it('A worker killed (kill -9) under load is replaced; no request fails and no session is lost', async () => {
    const member = await signedIn(server);
    const before = await workersOf(server.pid);
    const load = steadyLoad(server.port, await visitorAndMember(server, member), 8, pauseMs);
    await until('requests', () => load.counts().requests > 100);
    const [victim = 0] = before;
    process.kill(victim, 'SIGKILL');
    await until('a new worker', async () => (await workersOf(server.pid)).filter((pid) => pid !== victim).length === 2);
    const served = load.counts().requests;
    await until(
      'the new worker serves',
      () => servedBy(server, '/').size >= 3 && load.counts().requests > served + 200,
    );
    expect((await load.stop()).failed).toEqual({});
    expect(server.stdout()).toContain(`"worker":${victim},"code":null,"signal":"SIGKILL","msg":"a worker died"`);
    await wholeJourney(server);
  });

  // How workers are replaced is no matter of the stores.
  if (backend === anyBackend) {
    it('Workers whose successors cannot start keep serving after SIGHUP and after a kill until one starts', async () => {
      const before = await workersOf(server.pid);
      await writeFile(fault, '');
      server.signal('SIGHUP');
      await until('the reload stops', () => server.stdout().includes('"reload stopped:'));
      expect(await workersOf(server.pid)).toEqual(before);
      const [victim = 0, other = 0] = before;
      process.kill(victim, 'SIGKILL');
      await until('attempts', () => (server.stdout().match(/"code":3/g)?.length ?? 0) >= 4);
      expect(await workersOf(server.pid)).toContain(other);
      expect((await fetch(server.url)).status).toBe(200);
      await rm(fault);
      await until('two again', async () => {
        await Promise.all([1, 2].map(() => fetch(server.url, { headers: { connection: 'close' } })));
        const workers = await workersOf(server.pid);
        return workers.length === 2 && workers.every((pid) => servedBy(server, '/').has(pid));
      });
      // The next test has them replaced, as if nothing had been.
      expect(server.stdout()).not.toContain('"all workers replaced"');
    }, 60_000);
  }

  it('SIGHUP replaces both workers in turn under load; no request fails, and no session and no count is lost', async () => {
    const member = await signedIn(server);
    const [before, counted] = [await workersOf(server.pid), await signIns()];
    const load = steadyLoad(server.port, await visitorAndMember(server, member), 8, pauseMs);
    await until('requests', () => load.counts().requests > 100);
    server.signal('SIGHUP');
    await until('both are replaced', () => server.stdout().includes('"all workers replaced"'), 25_000);
    const { failed, repeated } = await load.stop();
    expect({ failed, repeated }).toEqual({ failed: {}, repeated: 0 });
    const after = await workersOf(server.pid);
    expect(after).toHaveLength(2);
    expect(after.filter((pid) => before.includes(pid))).toEqual([]);
    expect(await signIns()).toBe(counted);
    await wholeJourney(server);
    expect(await signIns()).toBe(counted + 1);
  }, 60_000);

  it('SIGTERM finishes sign-ins that wait for their password hash and ends with 0 within ten seconds', async () => {
    const begun = await Promise.all(Array.from({ length: 30 }, () => beginSignIn(server)));
    const workers = await workersOf(server.pid);
    const beganMs = performance.now();
    const statuses = begun.map((finish) => finish());
    server.signal('SIGTERM');
    expect(new Set(await Promise.all(statuses))).toEqual(new Set([303]));
    expect(await server.ended).toBe(0);
    expect(performance.now() - beganMs).toBeLessThan(10_000);
    expect(workers.filter(isRunning)).toEqual([]);
    expect(server.stderr()).toBe('');
  });
});

describe('two workers', () => {
  it('SIGTERM in production reports 503 at /readyz first and still answers requests', async () => {
    const server = await servers.start({
      ...two,
      ...production,
      DATA_DIR: await servers.folder(),
    });
    await server.ready;
    const ask = async (path: string) => (await fetch(`http://127.0.0.1:${server.port}${path}`)).status;
    expect(await ask('/readyz')).toBe(200);
    const beganMs = performance.now();
    server.signal('SIGTERM');
    await until('/readyz says so', async () => (await ask('/readyz')) === 503, 900);
    expect(await ask('/healthz')).toBe(200);
    expect(await server.ended).toBe(0);
    expect(performance.now() - beganMs).toBeLessThan(10_000);
  }, 30_000);

  it('Workers that die right after their start repeatedly end the server with a message', async () => {
    // Only workers have this fault.
    const dying = `data:text/javascript,${encodeURIComponent("import cluster from 'node:cluster'; if (cluster.isWorker) process.exit(3)")}`;
    const server = await servers.start(
      { ...two, DATA_DIR: await servers.preparedFolder() },
      { nodeOptions: ['--import', dying] },
    );
    expect(await server.ended).toBe(1);
    expect(server.stderr()).toMatch(/^\d+ workers died right after their start: see the lines above\.\n$/);
    expect(server.stdout()).toContain('"code":3,"signal":null,"msg":"a worker died"');
    expect(server.stdout()).not.toContain('is ready');
  }, 30_000);

  it('Workers end when their primary is killed (kill -9), and the port is free for the next server', async () => {
    const DATA_DIR = await servers.preparedFolder();
    const server = await servers.start({ ...two, DATA_DIR });
    await server.ready;
    const workers = await workersOf(server.pid);
    expect(workers).toHaveLength(2);
    server.signal('SIGKILL');
    await until('no orphan is left', () => !workers.some(isRunning), 10_000);
    const next = await servers.start({ DATA_DIR, PORT: String(server.port) });
    await next.ready;
    expect((await fetch(next.url)).status).toBe(200);
    next.signal('SIGTERM');
    expect(await next.ended).toBe(0);
  }, 30_000);
});
