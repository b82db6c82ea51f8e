import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { migrate, openDatabase } from '../../server/store/index.ts';

/**
 * Databases on the tests' PostgreSQL. Creating and migrating one takes a third of a second of the processor; emptying a
 * used one a twentieth.
 */

const migrationsDir = join(import.meta.dirname, '..', '..', 'server', 'store', 'migrations');
/** How long closed connections may take to disappear. */
const leaveWithinMs = 200;

/** Runs an action on a separate connection. */
async function connected<T>(url: string, act: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await act(client);
  } finally {
    await client.end();
  }
}

/** Of this process, by address: a new connection costs the server more than most queries do. */
const kept = new Map<string, Promise<pg.Pool>>();

/** One connection that is kept for later queries, and does not keep the process alive. */
function administrator(url: string): Promise<pg.Pool> {
  const known = kept.get(url);
  if (known) return known;
  const pool = new pg.Pool({ connectionString: url, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true });
  // A stopped server ends it; the next query opens another one.
  pool.on('error', () => {});
  const prepared = (async () => {
    const client = await pool.connect();
    try {
      // Two parallel creations of a table would conflict.
      await client.query('select pg_advisory_lock($1)', [waitingLock]);
      await client.query(waiting);
      await client.query('select pg_advisory_unlock($1)', [waitingLock]);
    } finally {
      client.release();
    }
    return pool;
  })();
  prepared.catch(() => kept.delete(url));
  kept.set(url, prepared);
  return prepared;
}

/** The address of another database of the same server. */
export function withDatabase(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}

/** @returns the name of a new and empty database */
export async function createDatabase(adminUrl: string): Promise<string> {
  const name = `foyer_test_${randomBytes(6).toString('hex')}`;
  await (await administrator(adminUrl)).query(`create database ${name}`);
  return name;
}

export async function dropDatabase(adminUrl: string, name: string): Promise<void> {
  await (await administrator(adminUrl)).query(`drop database if exists ${name} with (force)`);
}

let hash: string | undefined;

/** A hash of the migrations: a server that outlives the run must not lend databases of older ones. */
function migrationsHash(): string {
  if (hash === undefined) {
    const files = readdirSync(migrationsDir).toSorted();
    const text = files.map((file) => readFileSync(join(migrationsDir, file), 'utf8')).join();
    hash = createHash('sha256').update(text).digest('hex');
  }
  return hash;
}

/** The names of migrated and empty databases, with a fingerprint of their tables and of the migrations. */
const waiting = `create table if not exists foyer_test_waiting (name text primary key, tables text, migrations text)`;
const waitingLock = 4_201;
const take = `delete from foyer_test_waiting where name = (select name from foyer_test_waiting where migrations = $1
  order by name limit 1 for update skip locked) returning name, tables`;

/** Of tables, indexes, columns and the history of migrations, which stays when the other tables are emptied. */
const fingerprint = `select md5(string_agg(concat_ws(' ', c.relname, c.relkind, a.attname, a.atttypid, a.attnotnull), ','
  order by c.relname, a.attnum) || (select string_agg(h::text, ',' order by name) from schema_history h)) as tables
  from pg_class c join pg_attribute a on a.attrelid = c.oid where c.relnamespace = 'public'::regnamespace`;

/** A truncated table is like a new one: rows are returned in the order of insertion. */
const empty = `do $$ declare names text; begin
  select string_agg(oid::regclass::text, ', ') into names from pg_class where relkind = 'r' and relname <> 'schema_history'
    and relnamespace = 'public'::regnamespace and pg_relation_size(oid) > 0;
  if names is not null then execute 'truncate ' || names || ' cascade'; end if; end $$`;

const strangers = `select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;

async function tablesOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ tables: string }>(fingerprint);
  return rows[0]?.tables ?? '';
}

async function leftAlone(client: pg.Client): Promise<boolean> {
  const deadline = performance.now() + leaveWithinMs;
  while ((await client.query(strangers)).rowCount !== 0) {
    if (performance.now() > deadline) return false;
    await sleep(10);
  }
  return true;
}

/** A migrated and empty database for exclusive use until it is returned. */
export interface Lent {
  name: string;
  /** Its connections must be closed. A database that was altered, or is still in use, is dropped. */
  giveBack(): Promise<void>;
}

export async function lendDatabase(adminUrl: string): Promise<Lent> {
  const migrations = migrationsHash();
  const admin = await administrator(adminUrl);
  const [known] = (await admin.query<{ name: string; tables: string }>(take, [migrations])).rows;
  const { name, tables } = known ?? (await createMigrated(adminUrl));
  return {
    name,
    async giveBack() {
      const asNew = await connected(withDatabase(adminUrl, name), async (client) => {
        if (!(await leftAlone(client)) || (await tablesOf(client)) !== tables) return false;
        await client.query(empty);
        return true;
      });
      if (!asNew) return dropDatabase(adminUrl, name);
      const keeper = await administrator(adminUrl);
      await keeper.query('insert into foyer_test_waiting values ($1, $2, $3)', [name, tables, migrations]);
    },
  };
}

async function createMigrated(adminUrl: string): Promise<{ name: string; tables: string }> {
  const name = await createDatabase(adminUrl);
  const url = withDatabase(adminUrl, name);
  const database = await openDatabase({ url, dataDir: '' });
  await migrate(database).finally(() => database.close());
  return { name, tables: await connected(url, tablesOf) };
}
