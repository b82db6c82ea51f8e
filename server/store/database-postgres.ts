import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import pg from 'pg';
import { noChangeTracking } from './change-marker.ts';
import { type Database, postgresPoolSize, type StoreLog } from './database.ts';
import { createKysely } from './db.ts';
import { StoreUnavailable } from './key-value.ts';
import { observeDialect, type StoreObserver } from './observe-store.ts';
import { isRepeatable, poolForKysely } from './postgres-pool.ts';
import type { Schema } from './schema.ts';

const CONNECT_TIMEOUT_MS = 3000;
/** The server ends a statement after this time … */
const STATEMENT_TIMEOUT_MS = 8000;
/** … and if the server does not answer at all, the client gives up. */
const ANSWER_TIMEOUT_MS = 10_000;
/** An abandoned transaction must not keep its locks. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 15_000;
const TRANSACTION_ATTEMPTS = 6;
/** The advisory lock of migrations in all processes; an arbitrary number that only Foyer uses. */
const MIGRATION_LOCK = 7_036_905_571;

/** Opens a pool of connections to PostgreSQL and verifies that the server answers. */
export async function openPostgresDatabase(url: string, log: StoreLog, observe?: StoreObserver): Promise<Database> {
  const limits = {
    max: postgresPoolSize,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
  };
  const db = connect({ url, log, observe }, limits);
  const ping = async () => {
    await sql`select 1`.execute(db);
  };
  try {
    await ping();
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return {
    kind: 'postgres',
    db,
    changes: noChangeTracking,
    transaction: (fn) => repeatingTransaction(db, fn),
    async migrationTransaction(fn) {
      // A separate connection without time limits: a migration may rewrite a large table.
      const migrating = connect({ url, log }, { max: 1 });
      try {
        return await migrating.transaction().execute(async (trx) => {
          await sql`select pg_advisory_xact_lock(${MIGRATION_LOCK})`.execute(trx);
          return fn(trx);
        });
      } finally {
        await migrating.destroy();
      }
    },
    ping,
    close: () => db.destroy(),
  };
}

interface Connection {
  url: string;
  log: StoreLog;
  observe?: StoreObserver | undefined;
}

function connect({ url, log, observe }: Connection, limits: pg.PoolConfig): Kysely<Schema> {
  const pool = new pg.Pool({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'foyer',
    types: { getTypeParser: typeParser },
    ...limits,
  });
  // Without a listener the loss of an idle connection would end the process.
  pool.on('error', (error) => log('An idle connection to PostgreSQL was lost', error));
  const dialect = new PostgresDialect({ pool: poolForKysely(pool) });
  return createKysely(observe ? observeDialect(dialect, observe) : dialect);
}

async function repeatingTransaction<T>(db: Kysely<Schema>, fn: (trx: Transaction<Schema>) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.transaction().execute(fn);
    } catch (error) {
      if (!isRepeatable(error)) throw error;
      if (attempt === TRANSACTION_ATTEMPTS) {
        throw new StoreUnavailable('A transaction lost every time against others', { cause: error });
      }
      await sleep(Math.random() * 10 * 2 ** attempt);
    }
  }
}

/** Counts and times arrive as numbers, as from SQLite, and a number that would lose digits is an error. */
const typeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') => {
  const isWholeNumber = oid === pg.types.builtins.INT8 || oid === pg.types.builtins.NUMERIC;
  if (isWholeNumber && format !== 'binary') return toSafeNumber;
  return pg.types.getTypeParser(oid, 'text');
};

function toSafeNumber(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new RangeError(`${text} from the database does not fit into a number`);
  }
  return value;
}
