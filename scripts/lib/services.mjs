/** A private Redis and a private PostgreSQL for the tests: free ports on 127.0.0.1, data in a temporary folder. */
import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { run, start } from './processes.mjs';
import { Failure } from './say.mjs';

const READY_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 20;
const PORT_ATTEMPTS = 3;

/** @returns {Promise<number>} a port that was free a moment ago */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}

/**
 * Starts a service and waits until it is ready. If another process takes the port first, it tries again.
 * @param {string} name
 * @param {RegExp} readyLine
 * @param {(port: number) => import('./processes.mjs').Running} launch
 * @returns {Promise<number>} its port
 */
async function startService(name, readyLine, launch) {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const service = launch(port);
    let over = false;
    const end = () => {
      over = true;
    };
    service.ended.then(end, end);
    const deadlineMs = performance.now() + READY_WITHIN_MS;
    while (!over && performance.now() < deadlineMs) {
      if (readyLine.test(service.output())) return port;
      await sleep(LOOK_EVERY_MS);
    }
    await service.stop();
    if (attempt === PORT_ATTEMPTS) throw new Failure(`${name} did not start:\n${service.output().trim()}`);
  }
}

/**
 * @param {string} program path of redis-server
 * @param {string} dir an existing working folder
 * @returns {Promise<string>} its address
 */
export async function startRedis(program, dir) {
  const data = join(dir, 'redis');
  mkdirSync(data);
  const port = await startService('Redis', /ready to accept connections/i, (freed) => {
    const settings = [
      '--bind',
      '127.0.0.1',
      '--port',
      String(freed),
      '--dir',
      data,
      '--save',
      '',
      '--appendonly',
      'no',
    ];
    return start(program, [...settings, '--maxmemory-policy', 'noeviction', '--daemonize', 'no'], { cwd: data });
  });
  return `redis://127.0.0.1:${port}`;
}

/**
 * PostgreSQL refuses to run as root: then it runs as the package's own user, or as the user `nobody`.
 * @returns {{ uid: number, gid: number } | undefined}
 */
function unprivileged() {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, name], { stdio: 'pipe' })));
      if (uid && gid) return { uid, gid };
    } catch {
      // No such user.
    }
  }
  throw new Failure('PostgreSQL does not run as root, and this machine has neither a user "postgres" nor "nobody"');
}

/**
 * @param {string} programs folder of initdb and postgres
 * @param {string} dir an existing working folder, which other users may enter
 * @returns {Promise<string>} its address, for a role with all rights
 */
export async function startPostgres(programs, dir) {
  const data = join(dir, 'postgres');
  const user = unprivileged();
  mkdirSync(data, { mode: 0o700 });
  if (user) chownSync(data, user.uid, user.gid);
  const initdb = ['--pgdata', data, '--username', 'foyer', '--auth', 'trust', '--encoding', 'UTF8', '--locale', 'C'];
  await run('initdb', join(programs, 'initdb'), [...initdb, '--no-sync'], { cwd: data, ...user });
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 200,
    // The data need not survive.
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const port = await startService('PostgreSQL', /ready to accept connections/, (freed) =>
    // SIGINT is its "fast" shutdown: SIGTERM would wait for clients to disconnect.
    start(join(programs, 'postgres'), ['-D', data, '-p', String(freed), ...args], {
      cwd: data,
      stopSignal: 'SIGINT',
      leaderOnly: true,
      ...user,
    }),
  );
  return `postgres://foyer@127.0.0.1:${port}/postgres`;
}
