import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { nodeSettings } from '../../scripts/lib/processes.mjs';
import type { Figure } from './figures.ts';
import type { Stores } from './stores.ts';

const main = join(import.meta.dirname, '..', '..', 'dist', 'server', 'cli', 'main.js');

/** The columns of a Cognito pool; every second user has a hash, which Cognito does not export. */
const header =
  'cognito:username,name,given_name,family_name,profile,picture,email,email_verified,gender,birthdate,zoneinfo,locale,phone_number,phone_number_verified,address,updated_at,cognito:mfa_enabled,custom:newsletter,custom:tos_signed,custom:tos_version,custom:companyName,custom:jobTitle,sub,password_hash';
/** A hash of no password; the import only reads it. */
const hash = `$2a$10$${'abcdefghijklmnopqrstuv'}${'a'.repeat(31)}`;

function line(n: number): string {
  const sub = randomUUID();
  const phone = `+49151${String(n).padStart(8, '0')}`;
  return `${sub},,Ada,Member${n},,,member${n}@example.com,true,0,1990-01-0${(n % 9) + 1},Europe/Berlin,de-DE,${phone},${n % 3 === 0},"Street ${n}, 10117 Berlin",1600000000,${n % 6 === 0},false,true,1,Acme GmbH,Editor,${sub},${n % 2 === 0 ? hash : ''}\n`;
}

async function writeMembers(path: string, total: number): Promise<void> {
  const file = createWriteStream(path);
  file.write(`${header}\n`);
  for (let n = 0; n < total; n += 1) {
    if (!file.write(line(n))) await new Promise<void>((resolve) => file.once('drain', () => resolve()));
  }
  await new Promise((resolve) => file.end(() => resolve(undefined)));
}

interface Run {
  /** Undefined if the command was killed. */
  counts?: { added: number; there: number; refused: number; seconds: number };
  seconds: number;
  cpuSeconds: number;
  /** The maximum resident memory, in megabytes. */
  peakMb: number;
}

/** Clock ticks of Linux's /proc, everywhere 100 a second. */
const ticks = 100;

async function usageOf(pid: number): Promise<{ peakMb: number; cpuSeconds: number } | undefined> {
  const [status, stat] = await Promise.all(
    ['status', 'stat'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')),
  );
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(status ?? '')?.[1];
  if (peak === undefined || !stat) return undefined;
  // The fields follow the name in brackets: state is the third, user and system time are the fourteenth and fifteenth.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { peakMb: (Number(peak) * 1024) / 1e6, cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticks };
}

/** One run of the built command, which is killed when `kill` returns true. */
async function runImport({ environment }: Stores, args: string[], kill?: () => Promise<boolean>): Promise<Run> {
  const beganMs = performance.now();
  const child = spawn(process.execPath, [main, 'user', 'import', ...args, '--json'], {
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...environment, ...nodeSettings({}) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let usage = { peakMb: 0, cpuSeconds: 0 };
  while (child.exitCode === null && child.signalCode === null) {
    usage = (await usageOf(child.pid ?? 0)) ?? usage;
    if (kill && (await kill())) child.kill('SIGKILL');
    await sleep(20);
  }
  await ended;
  const seconds = (performance.now() - beganMs) / 1000;
  if (kill) return { seconds, ...usage };
  if (out === '') throw new Error(`the import said nothing (exit code ${child.exitCode})`);
  return { counts: JSON.parse(out), seconds, ...usage };
}

/** The one row that a statement answers, of numbers. */
async function readNumbers({ environment }: Stores, text: string): Promise<Record<string, number>> {
  const { DATABASE_URL: url, DATA_DIR: dataDir = '' } = environment;
  if (url) {
    const client = new pg.Client(url);
    await client.connect();
    const { rows } = await client.query(text).finally(() => client.end());
    return Object.fromEntries(Object.entries(rows[0]).map(([name, value]) => [name, Number(value)]));
  }
  const database = new DatabaseSync(join(dataDir, 'foyer.db'), { readOnly: true, timeout: 5_000 });
  try {
    return { ...database.prepare(text).get() } as Record<string, number>;
  } finally {
    database.close();
  }
}

/** The numbers of rows, distinct ids and records. */
async function countsOf(stores: Stores): Promise<{ users: number; ids: number; records: number }> {
  const text =
    'select (select count(*) from users) as users, (select count(distinct id) from users) as ids, (select count(distinct user_id) from user_records) as records';
  const { users = 0, ids = 0, records = 0 } = await readNumbers(stores, text);
  return { users, ids, records };
}

/** True from the time on when so many users are there; asked at most each tenth of a second, since it reads them all. */
function hasUsers(stores: Stores, wanted: number): () => Promise<boolean> {
  let readMs = 0;
  return async () => {
    if (performance.now() - readMs < 100) return false;
    const { users = 0 } = await readNumbers(stores, 'select count(*) as users from users');
    readMs = performance.now();
    return users >= wanted;
  };
}

/**
 * Imports users of a Cognito pool: a rehearsal, an import that is killed half-way, and the whole import again.
 * @throws {Error} when a user is lost or imported twice
 */
export async function measureImport(stores: Stores, total: number): Promise<Figure[]> {
  const path = join(stores.environment.DATA_DIR ?? '', 'members.csv');
  await writeMembers(path, total);
  const rehearsal = await runImport(stores, [path, '--dry-run']);
  const killed = await runImport(stores, [path], hasUsers(stores, total / 2));
  const half = await countsOf(stores);
  if (half.users >= total || half.users < total / 2) throw new Error(`it was killed at ${half.users} members`);
  const again = await runImport(stores, [path]);
  const all = await countsOf(stores);
  const wrong = Object.entries(all).filter(([, count]) => count !== total);
  if (wrong.length > 0 || again.counts?.added !== total - half.users || again.counts.there !== half.users) {
    throw new Error(`members were lost or doubled: ${JSON.stringify({ half, again: again.counts, all })}`);
  }
  const kind = stores.name;
  const detail = ({ cpuSeconds }: Run, more: string) => `${more}; processor ${cpuSeconds.toFixed(1)} s`;
  const seconds = killed.seconds + again.seconds;
  return [
    {
      what: `import, ${kind}: members per second`,
      value: total / seconds,
      unit: '/s',
      detail: `${total} in ${seconds.toFixed(1)} s, killed at ${half.users} and begun again; processor ${(killed.cpuSeconds + again.cpuSeconds).toFixed(1)} s`,
    },
    {
      what: `import, ${kind}: a rehearsal`,
      value: rehearsal.seconds * 1_000,
      unit: 'ms',
      detail: detail(rehearsal, `${rehearsal.counts?.added} would be added`),
    },
    {
      what: `import, ${kind}: most memory`,
      value: Math.max(killed.peakMb, again.peakMb),
      unit: 'MB',
      detail: `a rehearsal ${rehearsal.peakMb.toFixed(0)} MB`,
    },
  ];
}
