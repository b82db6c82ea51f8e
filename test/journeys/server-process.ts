import { execFile, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Finding } from '../../server/cli/doctor/finding.ts';
import { copyPrepared } from './prepared-folder.ts';

const dist = join(import.meta.dirname, '..', '..', 'dist');
const run = promisify(execFile);

/** The environment that a program gets: nothing of the test runner's own, but what Node has compiled, as `npm start` keeps it. */
function environment(variables: Record<string, string>): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  return { PATH, NODE_COMPILE_CACHE, ...variables };
}

function built(path: string, folder = dist): string {
  const file = join(folder, path);
  if (!existsSync(file)) throw new Error(`${file} is not there: run "npm run build" first`);
  return file;
}

/** Whether a port of this machine can be listened on. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Below those that systems hand out by themselves, so that no other test is given it before the server has started. */
export async function quietPort(): Promise<number> {
  const port = randomInt(10_240, 32_000);
  return (await isFree(port)) ? port : quietPort();
}

/** The built server as an operator starts it, in a process of its own. */
export interface ServerProcess {
  pid: number;
  port: number;
  /** What it says is PUBLIC_URL, unless told otherwise. */
  url: string;
  demoUrl: string;
  stdout(): string;
  stderr(): string;
  /** Resolves once it has said everything that it says when it is ready; rejects when it ends before. */
  ready: Promise<void>;
  /** Resolves when it has ended: its exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals>;
  signal(name: NodeJS.Signals): void;
}

interface StartOptions {
  nodeOptions?: string[];
  cwd?: string;
  /** The user and group of the process, if the tests run as root. */
  uid?: number | undefined;
  /** The folder of another build than this one's `dist`. */
  build?: string;
}

export interface Servers {
  /** A folder of this test file's own, empty. */
  folder(): Promise<string>;
  /** One in which a sandbox has been started before, for tests that are not about the first start. */
  preparedFolder(): Promise<string>;
  start(variables: Record<string, string>, options?: StartOptions): Promise<ServerProcess>;
  /** Ends the processes that still run. */
  endProcesses(): Promise<void>;
  /** The same, and removes the folders. */
  end(): Promise<void>;
}

export function createServers(): Servers {
  const folders: string[] = [];
  const running = new Set<ServerProcess>();
  async function newFolder() {
    const folder = await mkdtemp(join(tmpdir(), 'foyer-journey-'));
    folders.push(folder);
    return folder;
  }
  async function endProcesses() {
    const left = [...running];
    for (const server of left) server.signal('SIGKILL');
    await Promise.all(left.map(({ ended }) => ended));
  }
  return {
    folder: newFolder,
    async preparedFolder() {
      const folder = await newFolder();
      await copyPrepared(folder);
      return folder;
    },
    async start(variables, { nodeOptions = [], cwd = tmpdir(), uid, build = dist } = {}) {
      const port = Number(variables.PORT ?? (await quietPort()));
      const sandboxPort = Number(variables.SANDBOX_PORT ?? (await quietPort()));
      const child = spawn(
        process.execPath,
        [...nodeOptions, built(variables.NODE_ENV === 'production' ? 'server/main.js' : 'sandbox/main.js', build)],
        {
          cwd,
          ...(uid !== undefined && { uid, gid: uid }),
          env: environment({ PORT: String(port), SANDBOX_PORT: String(sandboxPort), ...variables }),
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      );
      let [stdout, stderr] = ['', ''];
      const { promise: ready, resolve: isReady, reject: isNot } = Promise.withResolvers<void>();
      // Not every test waits for the exit.
      ready.catch(() => {});
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text;
        const lastLine = variables.NODE_ENV === 'production' ? /is ready: .*\n/ : /Stop with Ctrl-C\.\n/;
        if (lastLine.test(stdout)) isReady();
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text;
      });
      const server: ServerProcess = {
        pid: child.pid ?? 0,
        port,
        url: variables.PUBLIC_URL ?? `http://localhost:${port}`,
        demoUrl: `http://127.0.0.1:${sandboxPort}`,
        stdout: () => stdout,
        stderr: () => stderr,
        ready,
        ended: new Promise((resolve, reject) => {
          child.once('error', reject);
          child.once('close', (code, signal) => {
            running.delete(server);
            isNot(new Error(`the server ended (${signal ?? code}): ${stdout}${stderr}`));
            resolve(signal ?? code ?? -1);
          });
        }),
        signal: (name) => child.kill(name),
      };
      running.add(server);
      return server;
    },
    endProcesses,
    async end() {
      await endProcesses();
      await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
    },
  };
}

/** Runs the operator's command of a build; rejects with its exit code and output if it fails. */
export const runCommand = (variables: Record<string, string>, words: string[], build = dist) =>
  run(process.execPath, [built('server/cli/main.js', build), ...words], { env: environment(variables) });

/** Adds a member by the operator's command, with a password that is not in the list of common ones. */
export async function addMember(variables: Record<string, string>) {
  const member = { email: 'ada@example.com', password: 'three blue boats 71' };
  const words = ['--email', member.email, '--password', member.password, '--verified', '--accept-terms'];
  await runCommand(variables, ['user', 'add', ...words]);
  return member;
}

/** Runs the operator's command on a folder's stores; answers its JSON. */
export async function foyerCommand(dataDir: string, ...words: string[]): Promise<Record<string, unknown>> {
  const { stdout } = await run(process.execPath, [built('server/cli/main.js'), ...words, '--json'], {
    env: environment({ DATA_DIR: dataDir }),
  });
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** Runs `foyer doctor` with this environment alone, as another user if the tests run as root. */
export async function doctorFindings(variables: Record<string, string>, uid?: number): Promise<Finding[]> {
  const options = { env: environment(variables), ...(uid !== undefined && { uid, gid: uid }) };
  const run = await promisify(execFile)(
    process.execPath,
    [built('server/cli/main.js'), 'doctor', '--json'],
    options,
  ).catch((error: { stdout: string; stderr: string }) => error);
  return (JSON.parse(run.stdout) as { findings: Finding[] }).findings;
}

/** Waits until the server answers that both stores are there. */
export async function untilReady({ url, stderr }: ServerProcess): Promise<void> {
  for (let times = 0; times < 800; times += 1) {
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    if (answer?.status === 200) return;
    await sleep(25);
  }
  throw new Error(`the server did not come: ${stderr()}`);
}
