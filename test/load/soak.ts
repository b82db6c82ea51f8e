import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { migrate, openDatabase } from '../../server/store/index.ts';
import { openEmbeddedKeyValue } from '../../server/store/key-value-embedded.ts';
import { production, site } from '../attacks/production.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import type { Backend } from '../support/stores.ts';
import { type Attack, attacks } from './soak-attacks.ts';

export interface SoakOptions {
  addresses: number;
  /** The simulated time. */
  hours: number;
  /** Called after each simulated step. */
  tell?: (line: string) => void;
}

export interface SoakResult {
  keyValueBytes: number;
  databaseBytes: number;
  /** The size of SQLite's write-ahead logs. */
  logBytes: number;
  /** Requests by kind, and how they were answered. */
  answers: Record<string, Record<string, number>>;
}

/** The length of the window in which guesses are counted. */
const stepMs = 15 * 60_000;
const minuteMs = 60_000;
/** The number of requests at the same time. */
const atOnce = 24;

/**
 // he size of the file with its log. Files do not shrink, so this is the maximum of the whole run; the log itself has
 // its
 * own limit.
 */
function sizeOf(dir: string, name: string): number {
  const file = new DatabaseSync(join(dir, name), { readOnly: true });
  const pragma = (what: string) => Number(file.prepare(`PRAGMA ${what}`).get()?.[what]);
  try {
    return pragma('page_count') * pragma('page_size');
  } finally {
    file.close();
  }
}

const logOf = (dir: string, name: string) => statSync(join(dir, `${name}-wal`), { throwIfNoEntry: false })?.size ?? 0;

/** Empty stores in their own folder; the sweep must keep up with a clock that runs a thousand times faster. */
async function ownStores(dataDir: string): Promise<Backend> {
  return {
    name: 'SQLite + embedded',
    async open() {
      const database = await openDatabase({ dataDir });
      await migrate(database);
      const kv = await openEmbeddedKeyValue({ path: join(dataDir, 'short-lived.db'), sweepIntervalMs: 50 });
      return {
        database,
        kv,
        urls: { databaseUrl: '', redisUrl: '', dataDir },
        async destroy() {
          await Promise.all([kv.close(), database.close()]);
        },
      };
    },
    reserve: () => Promise.reject(new Error('not needed')),
  };
}

/** The number of requests of one kind before the next kind: the kinds share some limits. */
const inARow = 40;

/** Sends all kinds of requests from one address, each until it was refused several times or sent often enough. */
async function exhaust(
  all: readonly Attack[],
  address: string,
  count: (name: string, status: number) => void,
): Promise<void> {
  const going = new Map(all.map((attack) => [attack, { sent: 0, refused: 0 }]));
  while (going.size > 0) {
    for (const [attack, state] of going) {
      for (let at = 0; at < inARow && state.sent < attack.most && state.refused < 3; at += 1, state.sent += 1) {
        const status = await attack.send(address, state.sent);
        count(attack.name, status);
        state.refused = [429, 503].includes(status) ? state.refused + 1 : 0;
      }
      if (state.sent >= attack.most || state.refused >= 3) going.delete(attack);
    }
  }
}

async function inTurn(work: (() => Promise<void>)[]): Promise<void> {
  const waiting = work.values();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const one of waiting) await one();
    }),
  );
}

/**
 // ends what visitors can send, from so many addresses, each up to all of its limits, while the clock of product,
 // stores
 * and libraries moves on. Returns the sizes of the files of both stores.
 */
export async function soak({ addresses, hours, tell = () => {} }: SoakOptions): Promise<SoakResult> {
  const realNow = Date.now;
  let passedMs = 0;
  Date.now = () => realNow() + passedMs;
  const dataDir = await mkdtemp(join(tmpdir(), 'foyer-soak-'));
  let foyer: TestFoyer | undefined;
  let emptyBytes = 0;
  const answers: SoakResult['answers'] = {};
  const result = () => ({
    keyValueBytes: sizeOf(dataDir, 'short-lived.db'),
    databaseBytes: sizeOf(dataDir, 'foyer.db') - emptyBytes,
    logBytes: logOf(dataDir, 'short-lived.db') + logOf(dataDir, 'foyer.db'),
    answers,
  });
  try {
    foyer = await startFoyer(await ownStores(dataDir), {
      ...production,
      GOOGLE_CLIENT_ID: 'soak',
      GOOGLE_CLIENT_SECRET: 'soak',
      PREVENT_USER_EXISTENCE_ERRORS: 'true',
      // The test keeps every line of the log in memory, and millions of lines make a long run slow.
      LOG_LEVEL: 'silent',
    });
    const all = await attacks(foyer, site);
    emptyBytes = sizeOf(dataDir, 'foyer.db');
    // Each address is in its own network, because the addresses of one network share its limits.
    const from = Array.from({ length: addresses }, (_, at) => `203.${at % 250}.${113 + Math.floor(at / 250)}.7`);
    const count = (name: string, status: number) => {
      answers[name] ??= {};
      const of = answers[name] as Record<string, number>;
      of[status] = (of[status] ?? 0) + 1;
    };
    for (let step = 0; step < (hours * 60 * minuteMs) / stepMs; step += 1) {
      // Some limits last for a minute, so the requests after one more minute are sent too.
      for (const waitMs of [0, minuteMs]) {
        passedMs += waitMs;
        await inTurn(from.map((address) => () => exhaust(all, address, count)));
      }
      await foyer.deps.outboxWorker.turn();
      passedMs += stepMs - minuteMs;
      const { keyValueBytes, databaseBytes, logBytes } = result();
      tell(
        `${(((step + 1) * stepMs) / 3_600_000).toFixed(1)} h: key-value ${megabytes(keyValueBytes)}, database ${megabytes(databaseBytes)}, logs ${megabytes(logBytes)}`,
      );
    }
    return result();
  } finally {
    Date.now = realNow;
    await foyer?.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
