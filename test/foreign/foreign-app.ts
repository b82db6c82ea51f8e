import { spawn } from 'node:child_process';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findMissingPackages, foreignFolder, isForeignInstalled } from '../../scripts/lib/foreign.mjs';
import type { ClientRequest } from '../../server/oidc/index.ts';
import type { Browser } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { freePort } from '../support/services.ts';

/** The first build of a Go program compiles the standard library. */
const startLimitMs = 240_000;
const stopLimitMs = 3_000;

export interface ForeignClient {
  /** As the table of the guide names it. */
  name: string;
  /** Runs in a folder that has the apps, and npm's packages beside them. */
  command(variables: Variables, folder: string): string[] | Promise<string[]>;
  /** The path of its redirect address. */
  callback?: string;
  /** Further options of `foyer client add`, which the guide names. */
  register?: Partial<ClientRequest>;
  /** Where a sign-out leads to; the start page by default. */
  goodbye?: string;
  /** Its address that signs out of both, or a call that returns the address at Foyer. */
  signOut?: string | ((browser: Browser, app: ForeignApp) => Promise<string>);
  /** Its library refreshes, and the app does it at `/refresh`; or a call that does it, and returns what the app knows. */
  refreshes?: true | ((browser: Browser, app: ForeignApp) => Promise<unknown>);
  /** Its library validates the id token, and the app has the claims. */
  validates?: true;
  /** Its address for logout tokens. */
  backChannel?: string;
  /** The address that begins a sign-in, or a call that returns the address at Foyer. */
  begin?: string | ((browser: Browser, app: ForeignApp) => Promise<string>);
}

export type Variables = Record<'ISSUER' | 'APP_URL' | 'CLIENT_ID' | 'CLIENT_SECRET' | 'PORT', string>;

export interface ForeignApp {
  url: string;
  /** Everything that it has written. */
  output(): string;
  stop(): Promise<void>;
}

function requirePackages(): void {
  const missing = isForeignInstalled() ? findMissingPackages() : ['those of test/foreign/packages/package-lock.json'];
  if (missing.length === 0) return;
  throw new Error(
    `The foreign client apps need packages that are not installed: ${missing.join(' ')}.\n` +
      '`npm run test:all -- test/foreign` installs them (as root those of Debian); or leave these tests out: ' +
      'FOYER_TEST_WITHOUT=foreign',
  );
}

/** A folder with the apps and with their packages, so that each import finds them. */
export async function appFolder(): Promise<string> {
  requirePackages();
  const folder = await mkdtemp(join(tmpdir(), 'foreign-'));
  await cp(join(import.meta.dirname, 'apps'), folder, { recursive: true });
  await symlink(join(foreignFolder, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

const kills = new Set<() => void>();
process.once('exit', () => {
  for (const kill of kills) kill();
});

/** Starts an app for a registered client, and waits until it listens. */
export async function startForeignApp(
  client: ForeignClient,
  variables: Variables & Readonly<Record<string, string>>,
): Promise<ForeignApp> {
  const folder = await appFolder();
  const [program = '', ...args] = await client.command(variables, folder);
  const home = { PATH: process.env.PATH ?? '', HOME: folder };
  const child = spawn(program, args, { cwd: folder, env: { ...home, ...variables }, detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const ended = new Promise((resolve) => child.once('close', resolve));
  // It may have children of its own.
  const kill = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All of them have ended.
    }
  };
  kills.add(kill);
  const stop = async () => {
    child.kill('SIGTERM');
    await Promise.race([ended, sleep(stopLimitMs)]);
    kill();
    await ended;
    kills.delete(kill);
    await rm(folder, { recursive: true, force: true });
  };
  const deadline = performance.now() + startLimitMs;
  while (!(await accepts(Number(variables.PORT)))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      await stop();
      throw new Error(`${client.name} did not start: ${output}`);
    }
    await sleep(50);
  }
  return { url: variables.APP_URL, output: () => output, stop };
}

/** Registers a client as the guide says, and starts it. */
export async function addForeignApp(foyer: TestFoyer, client: ForeignClient): Promise<ForeignApp> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { id, secret } = await foyer.addClient({
    redirectUris: [url + (client.callback ?? '/callback')],
    logoutUris: [url + (client.goodbye ?? '/')],
    ...(client.backChannel !== undefined && { backchannelLogoutUri: url + client.backChannel }),
    ...client.register,
  });
  const variables = { ISSUER: foyer.url, APP_URL: url, CLIENT_ID: id, CLIENT_SECRET: secret ?? '', PORT: String(port) };
  return startForeignApp(client, variables);
}
