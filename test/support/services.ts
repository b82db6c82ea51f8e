import { type ChildProcess, execFile, type SpawnOptions, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/**
 * Redis and PostgreSQL for tests. `npm test` starts one of each and passes their addresses in the environment; tests
 * get them here. Tests of fail-over and outage start their own servers.
 * This file uses only Node itself, so that the test script can import it directly.
 */

/** The parts that a run may omit, by name, in FOYER_TEST_WITHOUT (comma-separated). */
export type Part = 'redis' | 'postgres' | 'browser';

const VARIABLES = { redis: 'TEST_REDIS_URL', postgres: 'TEST_DATABASE_URL', browser: 'CHROMIUM_PATH' } as const;

/** True if this run omits the part; its suites are then not registered at all. */
export function leftOut(part: Part): boolean {
  return (process.env.FOYER_TEST_WITHOUT ?? '').split(',').some((name) => name.trim() === part);
}

/**
 * The address of a service (the path of the browser) for this run.
 * @throws Error with instructions if there is none.
 */
export function requireService(part: Part): string {
  const variable = VARIABLES[part];
  const value = process.env[variable];
  if (value) return value;
  throw new Error(
    `This test needs ${variable}. \`npm test\` sets it; to run without, name the part: FOYER_TEST_WITHOUT=${part}`,
  );
}

/** A server that was started for tests. */
export interface Service {
  url: string;
  port: number;
  /** Ends it and removes its files. */
  stop(): Promise<void>;
  /** Freezes (SIGSTOP) or thaws it (SIGCONT), or kills it at once. */
  signal(name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void;
  /** Ends it by a signal, and starts it again with the same port and files. */
  restart(name: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

const READY_TIMEOUT_MS = 20_000;
const run = promisify(execFile);

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The path of a program, or undefined: on the PATH, or in the folders of packages of database servers. */
export function findProgram(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  for (const parent of ['/usr/lib/postgresql', '/opt/homebrew/opt', '/usr/local/opt']) {
    if (!existsSync(parent)) continue;
    const inside = readdirSync(parent).sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
    folders.push(...inside.map((folder) => join(parent, folder, 'bin')));
  }
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** A private Redis without persistence. `extra` are further command-line settings. */
export async function startRedis(extra: string[] = [], options: SpawnOptions = {}): Promise<Service> {
  const port = await freePort();
  // A replica writes its master's data there, whatever the settings for saving.
  const folder = await mkdtemp(join(tmpdir(), 'foyer-redis-'));
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'];
  async function again() {
    const child = spawnServer(required('redis-server'), [...settings, ...extra], options);
    await untilListening(port, child);
    return child;
  }
  return service({ child: await again(), port, url: `redis://127.0.0.1:${port}`, folder, again });
}

/** A Redis Sentinel (quorum 1) that watches the master at `masterPort` as `NAME`; fails over within about a second. */
export async function startSentinel(masterPort: number): Promise<Service> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'foyer-sentinel-'));
  const file = join(folder, 'sentinel.conf');
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor NAME 127.0.0.1 ${masterPort} 1`,
    'sentinel down-after-milliseconds NAME 300',
    'sentinel failover-timeout NAME 2000',
  ];
  await writeFile(file, lines.join('\n'));
  async function again() {
    const child = spawnServer(required('redis-server'), [file, '--sentinel']);
    await untilListening(port, child);
    return child;
  }
  return service({ child: await again(), port, url: `redis+sentinel://127.0.0.1:${port}/NAME`, folder, again });
}

/**
 * A private PostgreSQL without durability: its data are deleted at the end, and it never waits for the disk.
 * @param extra further settings: name=value
 */
export async function startPostgres(options: SpawnOptions = {}, extra: string[] = []): Promise<Service> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'foyer-postgres-'));
  const data = join(folder, 'data');
  const as = await unprivileged(folder);
  const settings = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=200', ...extra];
  const initialise = ['-D', data, '-U', 'foyer', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  await run(required('initdb'), initialise, as);
  async function again(attempts = 100): Promise<ChildProcess> {
    try {
      return await openPostgres({ port, data, settings, as: { ...as, ...options } });
    } catch (error) {
      // After SIGKILL its children hold the memory for a moment.
      if (attempts === 0) throw error;
      await sleep(50);
      return again(attempts - 1);
    }
  }
  return service({ child: await again(0), port, url: `postgres://foyer@127.0.0.1:${port}/postgres`, folder, again });
}

interface PostgresFiles {
  port: number;
  data: string;
  /** name=value */
  settings: readonly string[];
  as: SpawnOptions;
}

async function openPostgres({ port, data, settings, as }: PostgresFiles): Promise<ChildProcess> {
  const place = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', ''];
  const child = spawnServer(required('postgres'), [...place, ...settings.flatMap((s) => ['-c', s])], as);
  // It listens a moment before it accepts connections.
  const isReady = () =>
    run(required('pg_isready'), ['-h', '127.0.0.1', '-p', String(port)]).then(
      () => true,
      () => false,
    );
  await until(isReady, child);
  return child;
}

/** A hot standby of a PostgreSQL, which gets all of its changes until it is promoted to a primary of its own. */
export async function startStandby(primary: Service): Promise<Service & { promote(): Promise<void> }> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'foyer-standby-'));
  const data = join(folder, 'data');
  const as = await unprivileged(folder);
  await run(required('pg_basebackup'), ['-d', primary.url, '-D', data, '-R', '--no-sync', '-c', 'fast'], as);
  const again = () => openPostgres({ port, data, as, settings: ['max_connections=200', 'fsync=off'] });
  const url = `postgres://foyer@127.0.0.1:${port}/postgres`;
  return {
    ...service({ child: await again(), port, url, folder, again }),
    async promote() {
      await run(required('pg_ctl'), ['promote', '-w', '-D', data], as);
    },
  };
}

/** PostgreSQL refuses to run as root: then it runs as the user `postgres` or `nobody`, who gets the folder. */
async function unprivileged(folder: string): Promise<{ uid?: number; gid?: number; cwd: string }> {
  if (process.getuid?.() !== 0) return { cwd: folder };
  for (const user of ['postgres', 'nobody']) {
    const ids = await Promise.all([run('id', ['-u', user]), run('id', ['-g', user])]).catch(() => undefined);
    if (!ids) continue;
    const [uid, gid] = [Number(ids[0].stdout), Number(ids[1].stdout)];
    await chown(folder, uid, gid);
    await chmod(folder, 0o700);
    return { uid, gid, cwd: folder };
  }
  throw new Error('PostgreSQL does not run as root, and there is neither a user postgres nor nobody');
}

function required(name: string): string {
  const path = findProgram(name);
  if (path) return path;
  const part = name === 'redis-server' ? 'redis' : 'postgres';
  throw new Error(`${name} is not installed; install it, or leave it out: FOYER_TEST_WITHOUT=${part}`);
}

function spawnServer(path: string, args: string[], options: SpawnOptions = {}) {
  const child = spawn(path, args, { ...options, stdio: 'ignore' });
  // A failing test must not leave it running.
  const end = () => child.kill('SIGKILL');
  process.prependOnceListener('exit', end);
  child.once('exit', () => process.off('exit', end));
  return child;
}

async function untilListening(port: number, child: ChildProcess): Promise<void> {
  await until(() => accepts(port), child);
}

async function until(condition: () => Promise<boolean>, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (!(await condition())) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with ${child.exitCode}`);
    if (Date.now() > deadline) throw new Error(`${child.spawnfile} is not ready after ${READY_TIMEOUT_MS} ms`);
    await sleep(20);
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

interface Running {
  child: ChildProcess;
  port: number;
  url: string;
  folder?: string;
  /** Starts it with the same port and files, and waits until it answers. */
  again: () => Promise<ChildProcess>;
}

function service({ child: first, port, url, folder, again }: Running): Service {
  let child = first;
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  async function end(name: NodeJS.Signals) {
    if (hasEnded()) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGCONT');
    child.kill(name);
    const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
    await ended;
    clearTimeout(timer);
  }
  return {
    url,
    port,
    signal(name) {
      child.kill(name);
    },
    async restart(name) {
      await end(name);
      child = await again();
    },
    async stop() {
      // A fast shutdown for PostgreSQL; Redis saves nothing.
      await end('SIGINT');
      if (folder) await rm(folder, { recursive: true, force: true });
    },
  };
}
