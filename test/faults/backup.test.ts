import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../server/store/index.ts';
import { insertUser } from '../../server/users/index.ts';
import { queryFile, readFolder } from '../cli/backup-folders.ts';
import { createServers, untilReady } from '../journeys/server-process.ts';
import { Browser } from '../support/browser.ts';
import { toNormalisedEmail } from '../support/ids.ts';
import { seededRandom } from './seeded.ts';

const main = join(import.meta.dirname, '../../dist/server/cli/main.js');
const secretKey = 'a secret key that is used by tests alone';
const password = 'open sesame 7';
const servers = createServers();
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'foyer-backup-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));
afterAll(() => servers.end());

const path = (...names: string[]) => join(root, ...names);

/** The built command as a process of its own. */
function start(
  dataDir: string,
  ...argv: string[]
): { child: ChildProcess; ended: Promise<{ code: number | null; text: string }> } {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, DATA_DIR: dataDir, SECRET_KEY: secretKey };
  const child = spawn(process.execPath, [main, ...argv], { env });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
  return { child, ended: new Promise((resolve) => child.once('close', (code) => resolve({ code, text }))) };
}
const foyer = (dataDir: string, ...argv: string[]) => start(dataDir, ...argv).ended;
const addMember = (dataDir: string, email: string) =>
  foyer(dataDir, 'user', 'add', '--email', email, '--password', password, '--verified', '--accept-terms');

/** Writes users one after the other, beside the running server. @returns those whose transaction was committed */
function startWriter(dataDir: string) {
  const acknowledged: string[] = [];
  let isOver = false;
  const done = (async () => {
    const database = await openDatabase({ dataDir });
    try {
      for (let n = 0; !isOver; n += 1) {
        const email = toNormalisedEmail(`member${n}@example.com`);
        await database.transaction((trx) => insertUser(trx, { email, phone: null, passwordHash: null }, Date.now()));
        acknowledged.push(email);
        await sleep(1);
      }
    } finally {
      await database.close();
    }
  })();
  return {
    acknowledged,
    stop: () => {
      isOver = true;
      return done;
    },
  };
}

const emailsIn = (folder: string) =>
  queryFile(join(folder, 'foyer.db'), 'select email from users').map(({ email }) => String(email));

it('After a backup under write load and the loss of all data, a restore has every row from before, and members sign in', async () => {
  const dataDir = path('data');
  await addMember(dataDir, 'ada@example.com');
  const variables = {
    NODE_ENV: 'test',
    SANDBOX: 'false',
    SEARCH_APP_URL: 'http://127.0.0.1:9/',
    SECRET_KEY: secretKey,
    DATA_DIR: dataDir,
  };
  const first = await servers.start(variables);
  await untilReady(first);
  const writer = startWriter(dataDir);
  while (writer.acknowledged.length < 200) await sleep(10);
  const before = [...writer.acknowledged];
  const backup = await foyer(dataDir, 'backup', path('copy'));
  const during = writer.acknowledged.length - before.length;
  await writer.stop();
  expect(backup).toMatchObject({ code: 0 });
  // The writer went on meanwhile.
  expect(during).toBeGreaterThan(20);
  expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
  first.signal('SIGKILL');
  await first.ended;
  rmSync(dataDir, { recursive: true });
  expect(await foyer(dataDir, 'restore', path('copy'))).toMatchObject({ code: 0 });
  const restored = emailsIn(dataDir);
  expect(restored).toEqual(expect.arrayContaining(['ada@example.com', ...before]));
  expect(
    restored.filter((email) => email !== 'ada@example.com' && !writer.acknowledged.some((one) => one === email)),
  ).toEqual([]);
  expect((await foyer(dataDir, 'audit', 'verify')).text).toContain('The audit trail is intact');
  const second = await servers.start(variables);
  await untilReady(second);
  const browser = new Browser(second.url);
  expect((await browser.post('/sign-in', { username: 'ada@example.com', password })).status).toBe(303);
  expect((await browser.get('/settings')).status).toBe(200);
  second.signal('SIGTERM');
  await second.ended;
});

it('A backup that is killed leaves a complete folder or none', async () => {
  const random = seededRandom(5);
  const dataDir = path('data');
  await addMember(dataDir, 'ada@example.com');
  const beganMs = performance.now();
  expect(await foyer(dataDir, 'backup', path('whole'))).toMatchObject({ code: 0 });
  const lengthMs = performance.now() - beganMs;
  const whole = Object.keys(await readFolder(path('whole')));
  for (let round = 0; round < 8; round += 1) {
    const target = path(`copy${round}`);
    const { child, ended } = start(dataDir, 'backup', target);
    await sleep(lengthMs * (0.5 + 0.6 * random()));
    child.kill('SIGKILL');
    await ended;
    if (existsSync(target)) expect(Object.keys(await readFolder(target))).toEqual(whole);
  }
  expect((await foyer(dataDir, 'user', 'list')).text).toContain('ada@example.com');
});

it('A restore that is killed leaves the former data or the restored ones', async () => {
  const random = seededRandom(7);
  const dataDir = path('data');
  await addMember(dataDir, 'new@example.com');
  await foyer(dataDir, 'backup', path('copy'));
  rmSync(dataDir, { recursive: true });
  await addMember(dataDir, 'former@example.com');
  const outcomes = new Set<string>();
  let lengthMs = 0;
  for (let round = 0; round < 10; round += 1) {
    const { child, ended } = start(dataDir, 'restore', path('copy'), '--replace');
    const beganMs = performance.now();
    // The first one is not killed, and says how long it takes.
    if (round > 0) await Promise.race([sleep(lengthMs * (0.5 + 0.6 * random())), ended]);
    if (round > 0) child.kill('SIGKILL');
    await ended;
    if (round === 0) lengthMs = performance.now() - beganMs;
    const list = await foyer(dataDir, 'user', 'list');
    expect(list.code).toBe(0);
    const emails = emailsIn(dataDir);
    expect([['former@example.com'], ['new@example.com']]).toContainEqual(emails);
    outcomes.add(emails.join());
    expect(readdirSync(dataDir)).not.toContain('replacement.ready');
    // Back to the former data.
    rmSync(dataDir, { recursive: true });
    await addMember(dataDir, 'former@example.com');
  }
  expect([...outcomes].toSorted()).toEqual(['former@example.com', 'new@example.com']);
});

// A file system of its own needs root and Linux, as the container of the continuous integration has.
const canMount = process.getuid?.() === 0 && existsSync('/proc/mounts');
if (canMount) {
  it('On a full disk backup and restore say so, and leave nothing and the former data', async () => {
    const disk = path('disk');
    const dataDir = path('data');
    await addMember(dataDir, 'ada@example.com');
    await foyer(dataDir, 'backup', path('copy'));
    execFileSync('mkdir', [disk]);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]);
    try {
      const small = join(disk, 'data');
      execFileSync('cp', ['-r', path('copy'), small]);
      rmSync(join(small, 'manifest.json'));
      expect(() => writeFileSync(join(disk, 'ballast'), Buffer.alloc(200_000))).not.toThrow();
      const before = await readFolder(small);
      const text = `No space is left on the disk of ${small}. Nothing was changed.\n`;
      expect(await foyer(small, 'restore', path('copy'), '--replace')).toEqual({ code: 4, text });
      expect(await readFolder(small)).toEqual(before);
      const copy = await foyer(dataDir, 'backup', join(disk, 'copy'));
      expect(copy).toEqual({ code: 4, text: `No space is left on the disk of ${disk}. Nothing was changed.\n` });
      expect(readdirSync(disk).toSorted()).toEqual(['ballast', 'data']);
    } finally {
      execFileSync('umount', [disk]);
    }
  });
}
