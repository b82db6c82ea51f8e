import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  addMember,
  createServers,
  doctorFindings,
  runCommand,
  type ServerProcess,
  untilReady,
} from '../journeys/server-process.ts';
import { Browser } from '../support/browser.ts';
import { backends } from '../support/stores.ts';
import { until, workersOf } from '../support/workers.ts';
import { appendMigration, type CopiedBuild, copyBuild } from './copied-build.ts';
import { withoutSandbox } from './without-sandbox.ts';

/** The next release adds; the one after it takes away what that release does not use any more. */
const addition = `{ name: '0098-addition', async up({ schema }) {
  await schema.alterTable('users').addColumn('badge', 'text').execute();
  await schema.alterTable('users').addColumn('rank', 'integer', (column) => column.notNull().defaultTo(0)).execute();
  await schema.createIndex('users_rank').on('users').column('rank').execute();
  await schema.createTable('badges').addColumn('id', 'text', (column) => column.primaryKey()).execute();
} }`;
const removal = `{ name: '0099-removal', compatibleSince: '0098-addition', async up({ schema }) {
  await schema.dropIndex('users_rank').execute();
} }`;

const servers = createServers();
const builds: CopiedBuild[] = [];
afterAll(async () => {
  await servers.end();
  for (const build of builds) await build.remove();
});

async function release(...migrations: string[]): Promise<CopiedBuild> {
  const build = await copyBuild();
  builds.push(build);
  for (const migration of migrations) await appendMigration(build, migration);
  return build;
}

const distIn = ({ root }: CopiedBuild) => join(root, 'dist');

interface Answer {
  status: number;
  body: { status?: string; schema?: string };
}

async function readiness({ url }: ServerProcess): Promise<Answer> {
  const answer = await fetch(`${url}/readyz`);
  return { status: answer.status, body: (await answer.json()) as Answer['body'] };
}

/** Signs in again and again until it is stopped, which answers the faults: each other answer. */
function signInSteadily(server: ServerProcess, member: { email: string; password: string }) {
  const controller = new AbortController();
  const faults: unknown[] = [];
  let times = 0;
  const run = async () => {
    while (!controller.signal.aborted) {
      const browser = new Browser(server.url);
      const signedIn = await browser.post('/sign-in', { username: member.email, password: member.password });
      const page = await browser.get('/settings/passkeys/add');
      if (signedIn.status !== 303 || page.status !== 200) faults.push([signedIn.status, page.status]);
      times += 1;
      await sleep(20);
    }
  };
  const running = run().catch((error: unknown) => faults.push(error));
  return {
    times: () => times,
    async stop() {
      controller.abort();
      await running;
      return faults;
    },
  };
}

/** One machine stands for many members here. */
const manySignIns = {
  PASSWORD_LIMIT_DEVICE: '100000',
  PASSWORD_LIMIT_MEMBER: '100000',
  GUESS_LIMIT_ACCOUNT: '100000',
  GUESS_LIMIT_ADDRESS: '100000',
  GUESS_LIMIT_DEVICE: '100000',
};

describe.each(backends)('an upgrade while the release before runs, on $name', (backend) => {
  let variables: Record<string, string>;
  let remove: () => Promise<void>;
  beforeEach(async () => {
    const reserved = await backend.reserve();
    remove = reserved.remove;
    const { databaseUrl, redisUrl, dataDir } = reserved.urls;
    variables = {
      ...withoutSandbox(dataDir),
      LOG_LEVEL: 'info',
      ...(databaseUrl !== '' && { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl }),
      ...manySignIns,
    };
  });
  afterEach(async () => {
    await servers.endProcesses();
    await remove();
  });

  async function start(build?: CopiedBuild, more: Record<string, string> = {}): Promise<ServerProcess> {
    return servers.start({ ...variables, ...more }, build ? { build: distIn(build) } : {});
  }

  it('A process of the release before serves every request during and after a migration that adds', async () => {
    const old = await start();
    await untilReady(old);
    expect((await readiness(old)).body.schema).toBe('current');
    const member = await addMember(variables);
    const load = signInSteadily(old, member);
    const next = await start(await release(addition));
    await untilReady(next);
    const nextLoad = signInSteadily(next, member);
    await until('the old process has seen the migration', async () => (await readiness(old)).body.schema === 'newer');
    const enough = load.times() + 3;
    await until('both have signed members in', () => load.times() > enough && nextLoad.times() > 3, 30_000);
    expect([await load.stop(), await nextLoad.stop()]).toEqual([[], []]);
    expect(await readiness(old)).toMatchObject({ status: 200, body: { status: 'ready', schema: 'newer' } });
    expect(await readiness(next)).toMatchObject({ status: 200, body: { status: 'ready', schema: 'current' } });
    const [found] = (await doctorFindings(variables)).filter(({ id }) => id.startsWith('database.newer'));
    expect(found).toMatchObject({ level: 'warning' });

    // The release before may also be started again, for example after the next one had a fault.
    old.signal('SIGTERM');
    expect(await old.ended).toBe(0);
    const again = await start();
    await untilReady(again);
    expect(again.stdout()).toContain('0098-addition');
  }, 90_000);

  it('A process that knows nothing of what was removed is not ready, and neither starts nor runs commands', async () => {
    const old = await start();
    await untilReady(old);
    const between = await start(await release(addition));
    await untilReady(between);
    const next = await start(await release(addition, removal));
    await untilReady(next);
    await until('the old process is not ready', async () => (await readiness(old)).status === 503);
    expect((await readiness(old)).body).toMatchObject({ status: 'not ready', schema: 'too new', database: 'answers' });
    await sleep(1_100);
    expect(await readiness(between)).toMatchObject({ status: 200, body: { schema: 'newer' } });
    expect(await readiness(next)).toMatchObject({ status: 200, body: { schema: 'current' } });

    const again = await start();
    expect(await again.ended).toBe(1);
    expect(again.stderr()).toContain('cannot work with it (0099-removal)');
    const findings = (await doctorFindings(variables)).filter(({ id }) => id === 'database.too-new');
    expect(findings).toMatchObject([{ level: 'fault' }]);
    await expect(runCommand(variables, ['user', 'list'])).rejects.toMatchObject({
      stderr: expect.stringContaining('0099-removal'),
    });
  }, 90_000);

  it('A reload before the migration replaces no worker, and one after it replaces all', async () => {
    const build = await release();
    const server = await start(build, { WEB_CONCURRENCY: '2' });
    await untilReady(server);
    const member = await addMember(variables);
    const before = await workersOf(server.pid);
    await appendMigration(build, addition);
    const load = signInSteadily(server, member);
    server.signal('SIGHUP');
    await until('the reload has stopped', () => server.stdout().includes('reload stopped'));
    expect(server.stderr()).toContain('run `foyer migrate`, then reload again');
    expect((await workersOf(server.pid)).toSorted()).toEqual(before.toSorted());

    await runCommand(variables, ['migrate'], distIn(build));
    server.signal('SIGHUP');
    await until('all workers are replaced', () => server.stdout().includes('all workers replaced'), 90_000);
    expect(await load.stop()).toEqual([]);
    expect((await workersOf(server.pid)).filter((pid) => before.includes(pid))).toEqual([]);
    expect(await readiness(server)).toMatchObject({ status: 200, body: { schema: 'current' } });
  }, 180_000);
});
