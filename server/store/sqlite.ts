import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { StoreUnavailable } from './key-value.ts';
import { whileBusy } from './sqlite-errors.ts';

/** Prepared statements kept per connection; hot paths run the same few SQL texts thousands of times per second. */
const STATEMENT_CACHE_SIZE = 256;
/** Of 4 KiB: when `sqlite-checkpoints.ts` cannot keep up, or is not there, whoever writes does its work. */
const CHECKPOINT_PAGES = 10_000;
/** Bounds the log file after a burst of writes (bytes). */
const JOURNAL_SIZE_LIMIT_BYTES = 64 * 1024 * 1024;

export interface PreparedStatement {
  readonly statement: StatementSync;
  /** True for SELECT and for RETURNING. */
  readonly returnsRows: boolean;
}

/** One connection to a SQLite file, with its prepared statements. */
export interface SqliteConnection {
  prepare(sql: string): PreparedStatement;
  exec(sql: string): void;
  /** Forgets prepared statements, after the tables have changed. */
  forgetStatements(): void;
  /**
   * Whether the file is still the one that was opened: one that was moved or deleted answers on, and what is written to it
   * is lost with this process. @throws StoreUnavailable
   */
  stillThere(): Promise<void>;
  close(): void;
}

/**
 * Opens a SQLite file (and creates it readable by its owner alone) in WAL mode. SQLite itself never waits for a
 * lock here, since waiting inside SQLite blocks the event loop: callers retry through `whileBusy`.
 *
 * @param options.readOnly refuses every write on this connection.
 * @throws StoreUnavailable when the file cannot be opened.
 */
export async function openSqlite(path: string, options: { readOnly?: boolean } = {}): Promise<SqliteConnection> {
  return wrapConnection(path, await whileBusy(() => open(path, options.readOnly ?? false)));
}

/** Opens a SQLite file that is there, as it is, for reading alone. @throws StoreUnavailable */
export async function readSqlite(path: string): Promise<SqliteConnection> {
  return wrapConnection(path, await whileBusy(() => new DatabaseSync(path, { readOnly: true, timeout: 0 })));
}

function wrapConnection(path: string, database: DatabaseSync): SqliteConnection {
  const { dev, ino } = statSync(path);
  return {
    ...withStatementCache(database),
    async stillThere() {
      const now = await stat(path).catch(() => undefined);
      if (now?.dev !== dev || now.ino !== ino) throw new StoreUnavailable(`${path} was moved or deleted`);
    },
  };
}

function open(path: string, readOnly: boolean): DatabaseSync {
  createPrivateFile(path);
  const database = new DatabaseSync(path, { timeout: 0, enableForeignKeyConstraints: true });
  try {
    database.exec('PRAGMA journal_mode = WAL');
    database.exec('PRAGMA synchronous = NORMAL');
    database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    database.exec(`PRAGMA journal_size_limit = ${JOURNAL_SIZE_LIMIT_BYTES}`);
    database.exec('PRAGMA temp_store = MEMORY');
    if (readOnly) database.exec('PRAGMA query_only = ON');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** SQLite gives its log files the permissions of the database file. */
function createPrivateFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', 0o600));
}

function withStatementCache(database: DatabaseSync): Omit<SqliteConnection, 'stillThere'> {
  const cache = new Map<string, PreparedStatement>();
  return {
    prepare(sql) {
      const known = cache.get(sql);
      if (known) {
        // A Map keeps the order of insertion: what was used last goes to the end, the first is the oldest.
        cache.delete(sql);
        cache.set(sql, known);
        return known;
      }
      const statement = database.prepare(sql);
      const prepared = { statement, returnsRows: statement.columns().length > 0 };
      cache.set(sql, prepared);
      if (cache.size > STATEMENT_CACHE_SIZE) {
        for (const oldest of cache.keys()) {
          cache.delete(oldest);
          break;
        }
      }
      return prepared;
    },
    exec(sql) {
      database.exec(sql);
    },
    forgetStatements() {
      cache.clear();
    },
    close() {
      cache.clear();
      if (database.isOpen) database.close();
    },
  };
}

/** Checks that every parameter is something that SQLite can hold; booleans are stored as 0 or 1, times as integers. */
export function toSqliteParameters(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters.map((value, index) => {
    if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') {
      return value;
    }
    if (value instanceof Uint8Array) return value;
    throw new TypeError(
      `SQL parameter ${index + 1} is a ${typeof value}: only text, numbers, bytes and null are stored`,
    );
  });
}
