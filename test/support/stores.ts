import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Redis } from 'ioredis';
import { selectBackends } from '../../scripts/lib/test-selection.mjs';
import { type Database, type KeyValueStore, migrate, openDatabase, openKeyValue } from '../../server/store/index.ts';
import { createDatabase, dropDatabase, lendDatabase, withDatabase } from './postgres-databases.ts';
import { leftOut, requireService } from './services.ts';

/** Addresses as in the configuration; empty ones mean SQLite and the embedded store in `dataDir`. */
export interface StoreUrls {
  databaseUrl: string;
  redisUrl: string;
  dataDir: string;
}

/** A migrated database and a key-value store for exclusive use. */
export interface OpenStores {
  database: Database;
  kv: KeyValueStore;
  urls: StoreUrls;
  /** Closes both and removes their data. */
  destroy(): Promise<void>;
}

export interface Backend {
  name: string;
  open(): Promise<OpenStores>;
  /** New and empty: without tables unless requested. */
  reserve(options?: { migrated?: boolean }): Promise<Reserved>;
}

interface Reserved {
  urls: StoreUrls;
  remove(): Promise<void>;
}

/** The product's name of it. */
const databaseFile = 'foyer.db';
let migrated: Promise<string> | undefined;

/** A file with empty tables, created once for all tests of this process: a copy costs a tenth of the migrations. */
function migratedFile(): Promise<string> {
  migrated ??= (async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'foyer-migrated-'));
    process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));
    const database = await openDatabase({ dataDir });
    await migrate(database).finally(() => database.close());
    return join(dataDir, databaseFile);
  })();
  return migrated;
}

const sqlite: Backend = {
  name: 'SQLite + embedded',
  async open() {
    return openStores(await sqlite.reserve({ migrated: true }));
  },
  async reserve({ migrated: withTables = false } = {}) {
    const dataDir = await mkdtemp(join(tmpdir(), 'foyer-test-'));
    if (withTables) await copyFile(await migratedFile(), join(dataDir, databaseFile));
    return {
      urls: { databaseUrl: '', redisUrl: '', dataDir },
      remove: () => rm(dataDir, { recursive: true, force: true }),
    };
  },
};

const postgres: Backend = {
  name: 'PostgreSQL + Redis',
  async open() {
    return openStores(await postgres.reserve({ migrated: true }));
  },
  async reserve({ migrated: withTables = false } = {}) {
    const adminUrl = requireService('postgres');
    if (withTables) {
      const { name, giveBack } = await lendDatabase(adminUrl);
      return postgresStores(name, giveBack);
    }
    const name = await createDatabase(adminUrl);
    return postgresStores(name, () => dropDatabase(adminUrl, name));
  },
};

async function postgresStores(name: string, removeDatabase: () => Promise<void>): Promise<Reserved> {
  const serverUrl = requireService('redis');
  // Its own prefix, even if the database has served another test.
  const prefix = `${name}_${randomBytes(4).toString('hex')}:`;
  const dataDir = await mkdtemp(join(tmpdir(), 'foyer-test-'));
  return {
    urls: {
      databaseUrl: withDatabase(requireService('postgres'), name),
      redisUrl: `${serverUrl}?prefix=${prefix}`,
      dataDir,
    },
    async remove() {
      await removeDatabase();
      await removeKeys(serverUrl, prefix);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** For tests that do not depend on the stores. */
export const anyBackend = sqlite;

const servers: Backend[] = leftOut('postgres') || leftOut('redis') ? [] : [postgres];

/**
 * Every pair of stores that this run uses: `describe.each(backends)('$name', ({ open }) => …)`. `chooseBackends` sets both
 * before the runner loads a test file.
 */
export let backends: Backend[] = [sqlite, ...servers];
/** The pairs of stores in `backends` that are servers. */
export let secondBackends: Backend[] = servers;

/** @param path of the test file that comes next */
export function chooseBackends(path: string): void {
  secondBackends = selectBackends(path, process.env).second ? servers : [];
  backends = [sqlite, ...secondBackends];
}

async function openStores({ urls, remove }: Reserved): Promise<OpenStores> {
  const database = await openDatabase({ url: urls.databaseUrl, dataDir: urls.dataDir });
  const kv = await openKeyValue({ url: urls.redisUrl, dataDir: urls.dataDir });
  return {
    database,
    kv,
    urls,
    async destroy() {
      await Promise.all([kv.close(), database.close()]);
      await remove();
    },
  };
}

/** Empties the key-value store under the running product, as an operator's FLUSHALL or a lost disk does. */
export async function flushKeyValue({ urls }: OpenStores): Promise<void> {
  if (urls.redisUrl !== '') {
    const [url = '', prefix = ''] = urls.redisUrl.split('?prefix=');
    return removeKeys(url, prefix);
  }
  const file = new DatabaseSync(join(urls.dataDir, 'short-lived.db'));
  file.exec('PRAGMA busy_timeout = 5000; DELETE FROM members; DELETE FROM entries;');
  file.close();
}

/** The keys with this prefix in the key-value store, as a thief of it reads them. */
export async function keysOf({ urls }: OpenStores, beginning: string): Promise<string[]> {
  if (urls.redisUrl !== '') {
    const [url = '', prefix = ''] = urls.redisUrl.split('?prefix=');
    const redis = new Redis(url);
    try {
      const keys = await redis.keys(`${prefix}${beginning}*`);
      return keys.map((key) => key.slice(prefix.length));
    } finally {
      redis.disconnect();
    }
  }
  const file = new DatabaseSync(join(urls.dataDir, 'short-lived.db'), { readOnly: true });
  try {
    const rows = file.prepare('SELECT key FROM entries').all() as { key: string }[];
    return rows.map(({ key }) => key).filter((key) => key.startsWith(beginning));
  } finally {
    file.close();
  }
}

async function removeKeys(url: string, prefix: string): Promise<void> {
  const redis = new Redis(url);
  try {
    for await (const keys of redis.scanStream({ match: `${prefix}*`, count: 1000 })) {
      if (Array.isArray(keys) && keys.length > 0) await redis.unlink(keys);
    }
  } finally {
    redis.disconnect();
  }
}
