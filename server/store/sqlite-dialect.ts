import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type Transaction,
} from 'kysely';
import { type SqliteConnection, toSqliteParameters } from './sqlite.ts';
import type { SqliteChanges } from './sqlite-changes.ts';
import { BUSY_LIMIT_MS, whileBusy } from './sqlite-errors.ts';
import { createWriteBatch, type WriteBatch } from './write-batch.ts';
import { createWriteLock, type WriteLock } from './write-lock.ts';

/** The two connections to one file: all writes use one, reads outside a transaction the other. */
interface SqliteConnections {
  writer: SqliteConnection;
  reader: SqliteConnection;
}

/** Marks the code that runs inside a transaction's callback. */
const insideTransaction = new AsyncLocalStorage<{ open: boolean }>();

/**
 * Runs one transaction and refuses every write of its callback that bypasses it: that write would wait for the
 * transaction, and the transaction for the write.
 */
export async function guardedTransaction<DB, T>(db: Kysely<DB>, fn: (trx: Transaction<DB>) => Promise<T>): Promise<T> {
  refuseInsideTransaction();
  const scope = { open: false };
  return insideTransaction.run(scope, () =>
    db.transaction().execute(async (trx) => {
      scope.open = true;
      try {
        return await fn(trx);
      } finally {
        scope.open = false;
      }
    }),
  );
}

function refuseInsideTransaction(): void {
  if (insideTransaction.getStore()?.open) {
    throw new Error('A write inside transaction() must use the transaction that the callback was given');
  }
}

/**
 * Kysely over `node:sqlite`. Transactions are BEGIN IMMEDIATE (a plain BEGIN fails when it changes from reading to
 * writing after another process has written), one writer at a time per process, and waiting never blocks the event
 * loop.
 */
export function createSqliteDialect(connections: SqliteConnections, changes: SqliteChanges): Dialect {
  return {
    createAdapter: () => new ConcurrentSqliteAdapter(),
    createDriver: () => new SqliteDriver(connections, changes),
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/** Otherwise Kysely would run one query or transaction at a time, including reads. */
class ConcurrentSqliteAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

/** The shared state of one driver's connections. */
interface Shared extends SqliteConnections {
  changes: SqliteChanges;
  lock: WriteLock;
  /** For single statements: those of one turn of the event loop share a transaction. */
  batch: WriteBatch;
}

class SqliteDriver implements Driver {
  readonly #shared: Shared;
  readonly #free: FoyerSqliteConnection[] = [];

  constructor(connections: SqliteConnections, changes: SqliteChanges) {
    const lock = createWriteLock();
    const batch = createWriteBatch(connections.writer, { lock, over: () => changes.over() });
    this.#shared = { ...connections, changes, lock, batch };
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<FoyerSqliteConnection> {
    return this.#free.pop() ?? new FoyerSqliteConnection(this.#shared);
  }

  async releaseConnection(connection: FoyerSqliteConnection): Promise<void> {
    this.#free.push(connection);
  }

  async beginTransaction(connection: FoyerSqliteConnection): Promise<void> {
    await connection.begin();
  }

  async commitTransaction(connection: FoyerSqliteConnection): Promise<void> {
    await connection.end('COMMIT');
  }

  async rollbackTransaction(connection: FoyerSqliteConnection): Promise<void> {
    await connection.end('ROLLBACK');
  }

  async destroy(): Promise<void> {
    await this.#shared.batch.close();
    this.#shared.reader.close();
    this.#shared.writer.close();
  }
}

/** Kysely's connection: it selects one of the two real ones for each statement. */
class FoyerSqliteConnection implements DatabaseConnection {
  readonly #shared: Shared;
  #inTransaction = false;

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  async begin(): Promise<void> {
    refuseInsideTransaction();
    const { lock, writer } = this.#shared;
    await lock.acquire(BUSY_LIMIT_MS);
    try {
      await whileBusy(() => writer.exec('BEGIN IMMEDIATE'));
      this.#inTransaction = true;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  async end(how: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    // Kysely rolls back after a failed commit: then there may be no open transaction.
    if (!this.#inTransaction) return;
    const { changes, lock, writer } = this.#shared;
    try {
      await whileBusy(() => writer.exec(how));
    } catch (error) {
      if (how === 'COMMIT') this.#rollBackQuietly();
      throw error;
    } finally {
      this.#inTransaction = false;
      changes.over();
      lock.release();
    }
  }

  #rollBackQuietly(): void {
    try {
      this.#shared.writer.exec('ROLLBACK');
    } catch {
      // SQLite has already rolled back; the commit's own error is the useful one.
    }
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { writer, reader, changes, lock, batch } = this.#shared;
    const read = isRead(query);
    if (this.#inTransaction) {
      if (!read) changes.wrote(query);
      return whileBusy(() => this.#run<R>(writer, query));
    }
    if (read) return whileBusy(() => this.#run<R>(reader, query));
    refuseInsideTransaction();
    if (isPlainWrite(query)) {
      return batch.run(() => {
        changes.wrote(query);
        return this.#run<R>(writer, query);
      });
    }
    await lock.acquire(BUSY_LIMIT_MS);
    try {
      changes.wrote(query);
      return await whileBusy(() => this.#run<R>(writer, query));
    } finally {
      changes.over();
      lock.release();
    }
  }

  #run<R>(connection: SqliteConnection, query: CompiledQuery): QueryResult<R> {
    const { statement, returnsRows } = connection.prepare(query.sql);
    const parameters = toSqliteParameters(query.parameters);
    if (returnsRows) {
      // Plain objects, like PostgreSQL's; those of node:sqlite have no prototype.
      const rows: unknown[] = statement.all(...parameters).map((row) => ({ ...row }));
      return { rows: rows as R[] };
    }
    const { changes, lastInsertRowid } = statement.run(...parameters);
    if (changesTables(query.sql)) {
      this.#shared.writer.forgetStatements();
      this.#shared.reader.forgetStatements();
    }
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    // All at once: a partially read statement would keep its snapshot, and the log could not be truncated.
    yield await this.executeQuery<R>(query);
  }
}

/** SQLite has no write inside a common table expression, so a SELECT node never writes. */
function isRead(query: CompiledQuery): boolean {
  if (query.query.kind === 'SelectQueryNode') return true;
  return query.query.kind === 'RawNode' && /^\s*(select|explain|values)\b/i.test(query.sql);
}

/** Tests whether a statement can share a transaction with others. */
function isPlainWrite({ query: { kind } }: CompiledQuery): boolean {
  return kind === 'InsertQueryNode' || kind === 'UpdateQueryNode' || kind === 'DeleteQueryNode';
}

function changesTables(sql: string): boolean {
  return /^\s*(create|alter|drop)\b/i.test(sql);
}
