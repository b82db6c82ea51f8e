/**
 * `npm run bench:workers`: several workers in production under load while one is killed, while all are replaced, and while
 * the service ends. The counts are for people; test/journeys/workers.test.ts checks the promises.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { nodeSettings } from '../../scripts/lib/processes.mjs';
import type * as PasswordModule from '../../server/password/index.ts';
import type * as StoreModule from '../../server/store/index.ts';
import type * as UsersModule from '../../server/users/index.ts';
import { freePort } from '../support/services.ts';
import { type Asked, type Counts, type SteadyLoad, steadyLoad } from '../support/steady-load.ts';
import { until, workersOf } from '../support/workers.ts';
import { built } from './built.ts';
import { host, memberEmail, password, publicUrl } from './setting.ts';
import { embeddedStores, type Stores, serverStores } from './stores.ts';

const help = `npm run bench:workers -- [options]

  --workers N     how many (2)
  --at-once N     requests at once (16)
  --rounds N      kills and reloads (3)
  --servers       on PostgreSQL and Redis (SQLite and the embedded store)
`;

const options = {
  help: { type: 'boolean', short: 'h' },
  workers: { type: 'string', default: '2' },
  'at-once': { type: 'string', default: '16' },
  rounds: { type: 'string', default: '3' },
  servers: { type: 'boolean', default: false },
} as const;

const main = join(import.meta.dirname, '..', '..', 'dist', 'server', 'main.js');
/** The headers that a proxy before Foyer adds. */
const proxied = {
  host,
  'x-forwarded-host': host,
  accept: 'text/html',
  'x-forwarded-for': '203.0.113.7',
  'x-forwarded-proto': 'https',
};
const steadyMs = 3_000;

async function addMember({ environment }: Stores): Promise<void> {
  const { insertUser } = await built<typeof UsersModule>('server/users/index');
  const { createPasswordHasher } = await built<typeof PasswordModule>('server/password/index');
  const { migrate, openDatabase } = await built<typeof StoreModule>('server/store/index');
  const database = await openDatabase({ url: environment.DATABASE_URL, dataDir: environment.DATA_DIR ?? '' });
  try {
    await migrate(database);
    const passwordHash = await createPasswordHasher({ queueMax: 1, waitMs: 10_000 }).hash(password, 'operator');
    const member = { email: memberEmail(0), givenName: 'Ada', familyName: 'Load', passwordHash, emailVerified: true };
    await database.transaction((trx) => insertUser(trx, { ...member, acceptedTosVersion: 1_000 }, Date.now()));
  } finally {
    await database.close();
  }
}

interface Service {
  child: ChildProcess;
  port: number;
  output(): string;
  ended: Promise<number | null>;
}

async function startService({ environment }: Stores, workers: string): Promise<Service> {
  const port = await freePort();
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env.PATH ?? '',
      ...nodeSettings({}),
      ...environment,
      NODE_ENV: 'production',
      PORT: String(port),
      WEB_CONCURRENCY: workers,
      LOG_LEVEL: 'info',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // A failed measurement leaves no process behind.
  process.once('exit', () => child.kill('SIGKILL'));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  await until('the service is ready', () => output.includes('is ready'));
  return { child, port, output: () => output, ended };
}

/** A visitor's page, and a user's page, which answers differently without a session. */
async function visitorAndMember(port: number): Promise<Asked[]> {
  const answer = await fetch(`http://127.0.0.1:${port}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { ...proxied, origin: publicUrl, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ username: memberEmail(0), password }).toString(),
  });
  const cookie = answer.headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0] ?? '')
    .join('; ');
  // A refusal is also a redirect.
  if (answer.status !== 303 || !cookie.includes('foyer_session='))
    throw new Error(`the sign-in answered ${answer.status}`);
  return [
    { path: '/', headers: proxied, expected: 200 },
    { path: '/', headers: { ...proxied, cookie }, expected: 303 },
  ];
}

function line(what: string, { requests, repeated, failed, slowestMs }: Counts, more = ''): string {
  const failures = Object.entries(failed).map(([kind, count]) => `${count} ${kind}`);
  const shown = [
    `${requests} requests`.padStart(15),
    `${failures.length === 0 ? 0 : failures.join(', ')} failed`.padStart(12),
    `${repeated} repeated`.padStart(13),
    `slowest ${slowestMs.toFixed(0)} ms`.padStart(17),
  ];
  return [what.padEnd(34), ...shown, more].join(' ').trimEnd();
}

/** The counts since then; the slowest answer is that of the whole time, so each phase has its own load. */
async function phase(what: string, load: SteadyLoad, act: () => Promise<string | undefined>): Promise<void> {
  await sleep(steadyMs);
  const more = await act();
  await sleep(steadyMs);
  console.log(line(what, await load.stop(), more));
}

async function measure(
  stores: Stores,
  { workers, atOnce, rounds }: { workers: string; atOnce: number; rounds: number },
) {
  await addMember(stores);
  const service = await startService(stores, workers);
  const { child, port } = service;
  const pid = child.pid ?? 0;
  const asked = await visitorAndMember(port);
  const load = () => steadyLoad(port, asked, atOnce);
  console.log(`${stores.name}, ${workers} workers, ${atOnce} requests at once\n`);
  await phase('nothing happens', load(), async () => undefined);
  for (let round = 0; round < rounds; round += 1) {
    await phase('kill -9 of one worker', load(), async () => {
      const before = await workersOf(pid);
      const beganMs = performance.now();
      process.kill(before[round % before.length] ?? 0, 'SIGKILL');
      const alive = async () => (await workersOf(pid)).length === before.length;
      await until('a new worker', async () => !(await alive()), 1_000).catch(() => {});
      await until('a new worker', alive);
      return `another one after ${(performance.now() - beganMs).toFixed(0)} ms`;
    });
  }
  for (let round = 0; round < rounds; round += 1) {
    await phase('SIGHUP: all replaced', load(), async () => {
      const reloads = () => service.output().split('"all workers replaced"').length;
      const [before, beganMs] = [reloads(), performance.now()];
      child.kill('SIGHUP');
      await until('all are replaced', () => reloads() > before, 60_000);
      return `in ${(performance.now() - beganMs).toFixed(0)} ms`;
    });
  }
  await drain(service, load());
}

/** After the port is closed no request can be answered; these requests are counted separately. */
async function drain({ child, ended }: Service, load: SteadyLoad): Promise<void> {
  await sleep(steadyMs);
  const beganMs = performance.now();
  child.kill('SIGTERM');
  const code = await ended;
  const tookMs = performance.now() - beganMs;
  const { failed, ...counts } = await load.stop();
  const { ECONNREFUSED: refused = 0, ...others } = failed;
  const answered = { ...counts, requests: counts.requests - refused, repeated: counts.repeated - 2 * refused };
  console.log(line('SIGTERM', { ...answered, failed: others }, `ended with ${code} after ${tookMs.toFixed(0)} ms`));
  console.log(`\nAfter the port was closed ${refused} requests were refused, as they must be.`);
}

const { values } = parseArgs({ options });
if (values.help) console.log(help);
else {
  const stores = values.servers ? await serverStores() : await embeddedStores();
  if (!stores) throw new Error('PostgreSQL or Redis is not installed');
  try {
    const [atOnce, rounds] = [Number(values['at-once']), Number(values.rounds)];
    await measure(stores, { workers: values.workers, atOnce, rounds });
  } finally {
    await stores.remove();
  }
}
