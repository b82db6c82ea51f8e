import type { Kysely, Transaction } from 'kysely';
import type { ChangeMarker } from './change-marker.ts';
import { openPostgresDatabase } from './database-postgres.ts';
import { openSqliteDatabase } from './database-sqlite.ts';
import type { StoreObserver } from './observe-store.ts';
import type { Schema } from './schema.ts';

/** The records: users, clients, grants and everything else that must not be lost. */
export interface Database {
  readonly kind: 'sqlite' | 'postgres';
  /** For reads and single statements. Inside {@link Database.transaction} use its `trx` instead. */
  readonly db: Kysely<Schema>;
  /** For what may be kept between requests: see `keepUnchanged`. */
  readonly changes: ChangeMarker;
  /**
   * Runs `fn` in one transaction, which is rolled back when `fn` throws. PostgreSQL repeats the whole of it after a
   * serialization failure or a deadlock, so `fn` may run more than once and must act on nothing but `trx`.
   *
   * On SQLite the transaction excludes every other writer; on PostgreSQL it is READ COMMITTED: to decide on what was
   * read, let one conditional statement decide, or read with `forUpdate()` (PostgreSQL only).
   *
   * @throws StoreUnavailable when the database is away, or stays locked.
   */
  transaction<T>(fn: (trx: Transaction<Schema>) => Promise<T>): Promise<T>;
  /** A transaction that excludes every other migration, in all processes, and may take long. */
  migrationTransaction<T>(fn: (trx: Transaction<Schema>) => Promise<T>): Promise<T>;
  /** Resolves when the database answers, else rejects with StoreUnavailable. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** What the stores say about trouble that they get over by themselves (a lost idle connection, say). */
export type StoreLog = (message: string, error: Error) => void;

export interface DatabaseOptions {
  /** `postgres://…`; empty or absent: SQLite in `dataDir`. */
  url?: string | undefined;
  /** Where the SQLite file `foyer.db` lives. */
  dataDir: string;
  log?: StoreLog | undefined;
  observe?: StoreObserver | undefined;
}

/**
 * Opens the database and makes sure that it answers. The tables are made by `migrate`.
 *
 * @throws StoreUnavailable when it cannot be reached; TypeError for an address of another kind.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { url = '', dataDir, log = () => {}, observe } = options;
  if (url === '') return openSqliteDatabase(dataDir, observe);
  if (/^postgres(ql)?:\/\//.test(url)) return openPostgresDatabase(url, log, observe);
  throw new TypeError('A database address begins with postgres:// (or is empty, for SQLite)');
}
