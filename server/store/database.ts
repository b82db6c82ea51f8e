import type { Kysely, Transaction } from 'kysely';
import type { ChangeMarker } from './change-marker.ts';
import type { Schema } from './schema.ts';

/** Connections of one process to PostgreSQL. */
export const postgresPoolSize = 10;

/** The records: users, clients, grants and everything else that must not be lost. */
export interface Database {
  readonly kind: 'sqlite' | 'postgres';
  /** For reads and single statements. Inside {@link Database.transaction} use its `trx` instead. */
  readonly db: Kysely<Schema>;
  /** For caches between requests: see `cacheUntilChanged`. */
  readonly changes: ChangeMarker;
  /**
   * Runs `fn` in one transaction, which is rolled back if `fn` throws. PostgreSQL repeats it after a serialization
   * failure or a deadlock, so `fn` may run more than once and must have no effects outside `trx`.
   * On SQLite the transaction excludes every other writer. On PostgreSQL it is READ COMMITTED: a decision that depends
   * on a read needs one conditional statement, or a read with `forUpdate()` (PostgreSQL only).
   * @throws StoreUnavailable if the database is unavailable, or stays locked.
   */
  transaction<T>(fn: (trx: Transaction<Schema>) => Promise<T>): Promise<T>;
  /** A transaction that excludes every other migration, in all processes, and may take long. */
  migrationTransaction<T>(fn: (trx: Transaction<Schema>) => Promise<T>): Promise<T>;
  /** Resolves when the database answers, else rejects with StoreUnavailable. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Problems that the stores recover from by themselves, for example a lost idle connection. */
export type StoreLog = (message: string, error: Error) => void;
