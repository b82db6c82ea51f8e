import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { propertyIn } from '../shared/index.ts';
import { StoreUnavailable } from './key-value.ts';
import { whileBusy } from './sqlite-errors.ts';

/** Number of cached statements per connection; hot paths run the same few SQL texts thousands of times per second. */
const STATEMENT_CACHE_SIZE = 256;
/** Pages of 4 KiB: if `sqlite-checkpoints.ts` is too slow or missing, a writer does its work. */
const CHECKPOINT_PAGES = 10_000;
/** Bounds the log file after a burst of writes (bytes). */
const JOURNAL_SIZE_LIMIT_BYTES = 64 * 1024 * 1024;

interface PreparedStatement {
  readonly statement: StatementSync;
  /** True for SELECT and for RETURNING. */
  readonly returnsRows: boolean;
}

/** One connection to a SQLite file, with its prepared statements. */
export interface SqliteConnection {
  prepare(sql: string): PreparedStatement;
  exec(sql: string): void;
  /** Clears the cached statements, after the tables have changed. */
  forgetStatements(): void;
  /**
   * Tests whether the file is still the opened one: a moved or deleted file still answers, and writes to it are lost
   * with this process. @throws StoreUnavailable
   */
  stillThere(): Promise<void>;
  close(): void;
}

/**
 * Opens a SQLite file (and creates it readable only by its owner) in WAL mode. SQLite itself never waits for a lock
 * here, because that would block the event loop: callers retry with `whileBusy`.
 * @param options.readOnly refuses every write on this connection.
 * @throws StoreUnavailable if the file cannot be opened.
 */
export async function openSqlite(path: string, options: { readOnly?: boolean } = {}): Promise<SqliteConnection> {
  return wrapConnection(path, await whileBusy(() => open(path, options.readOnly ?? false)));
}

/** Opens an existing SQLite file unchanged, for reading only. @throws StoreUnavailable */
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

/**
 * SQLite gives its log files the permissions of the database file. An existing file is not opened: closing it would
 * release the locks that SQLite holds on it for this process (https://www.sqlite.org/howtocorrupt.html, section 2.2).
 */
function createPrivateFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (propertyIn(error, 'code') !== 'EEXIST') throw error;
  }
}

function withStatementCache(database: DatabaseSync): Omit<SqliteConnection, 'stillThere'> {
  const cache = new Map<string, PreparedStatement>();
  return {
    prepare(sql) {
      const known = cache.get(sql);
      if (known) {
        // A Map keeps the order of insertion: the most recently used entry moves to the end, the first is the oldest.
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

/** Checks that SQLite can store every parameter; booleans are stored as 0 or 1, times as integers. */
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
