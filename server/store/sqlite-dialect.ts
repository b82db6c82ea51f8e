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
import { BUSY_LIMIT_MS, whileBusy } from './sqlite-errors.ts';
import { createWriteLock, type WriteLock } from './write-lock.ts';

/** The two connections to one file: all writes go through one, reads outside a transaction through the other. */
export interface SqliteConnections {
  writer: SqliteConnection;
  reader: SqliteConnection;
}

/** Marks the code that runs inside a transaction's callback. */
const insideTransaction = new AsyncLocalStorage<{ open: boolean }>();

/**
 * Runs one transaction and refuses, while its callback runs, every write of the callback that bypasses it: that
 * write would wait for the transaction, and the transaction for the write.
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
 * Kysely over `node:sqlite`. Transactions are BEGIN IMMEDIATE (a plain BEGIN fails when it turns from reading to
 * writing while another process wrote), one writer at a time per process, and waiting never blocks the event loop.
 */
export function createSqliteDialect(connections: SqliteConnections): Dialect {
  return {
    createAdapter: () => new ConcurrentSqliteAdapter(),
    createDriver: () => new SqliteDriver(connections),
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/** Kysely would otherwise let one query or transaction at a time through, reads included. */
class ConcurrentSqliteAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

class SqliteDriver implements Driver {
  readonly #connections: SqliteConnections;
  readonly #lock = createWriteLock();
  readonly #free: FoyerSqliteConnection[] = [];

  constructor(connections: SqliteConnections) {
    this.#connections = connections;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<FoyerSqliteConnection> {
    return this.#free.pop() ?? new FoyerSqliteConnection(this.#connections, this.#lock);
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
    this.#connections.reader.close();
    this.#connections.writer.close();
  }
}

/** What Kysely takes for a connection: it decides per statement which of the two real ones to use. */
class FoyerSqliteConnection implements DatabaseConnection {
  readonly #connections: SqliteConnections;
  readonly #lock: WriteLock;
  #inTransaction = false;

  constructor(connections: SqliteConnections, lock: WriteLock) {
    this.#connections = connections;
    this.#lock = lock;
  }

  async begin(): Promise<void> {
    refuseInsideTransaction();
    await this.#lock.acquire(BUSY_LIMIT_MS);
    try {
      await whileBusy(() => this.#connections.writer.exec('BEGIN IMMEDIATE'));
      this.#inTransaction = true;
    } catch (error) {
      this.#lock.release();
      throw error;
    }
  }

  async end(how: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    // Kysely rolls back after a failed commit: then nothing may be open any more.
    if (!this.#inTransaction) return;
    try {
      await whileBusy(() => this.#connections.writer.exec(how));
    } catch (error) {
      if (how === 'COMMIT') this.#rollBackQuietly();
      throw error;
    } finally {
      this.#inTransaction = false;
      this.#lock.release();
    }
  }

  #rollBackQuietly(): void {
    try {
      this.#connections.writer.exec('ROLLBACK');
    } catch {
      // SQLite has already rolled back by itself; the commit's own error is what the caller needs.
    }
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { writer, reader } = this.#connections;
    if (this.#inTransaction) return whileBusy(() => this.#run<R>(writer, query));
    if (isRead(query)) return whileBusy(() => this.#run<R>(reader, query));
    refuseInsideTransaction();
    await this.#lock.acquire(BUSY_LIMIT_MS);
    try {
      return await whileBusy(() => this.#run<R>(writer, query));
    } finally {
      this.#lock.release();
    }
  }

  #run<R>(connection: SqliteConnection, query: CompiledQuery): QueryResult<R> {
    const { statement, returnsRows } = connection.prepare(query.sql);
    const parameters = toSqliteParameters(query.parameters);
    if (returnsRows) {
      // Plain objects, as PostgreSQL's are; those of node:sqlite have no prototype.
      const rows: unknown[] = statement.all(...parameters).map((row) => ({ ...row }));
      return { rows: rows as R[] };
    }
    const { changes, lastInsertRowid } = statement.run(...parameters);
    if (changesTables(query.sql)) {
      this.#connections.writer.forgetStatements();
      this.#connections.reader.forgetStatements();
    }
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    // All at once: a statement left half read would keep its snapshot, and the log file could not be cut.
    yield await this.executeQuery<R>(query);
  }
}

/** SQLite has no write inside a common table expression, so a SELECT node never writes. */
function isRead(query: CompiledQuery): boolean {
  if (query.query.kind === 'SelectQueryNode') return true;
  return query.query.kind === 'RawNode' && /^\s*(select|explain|values)\b/i.test(query.sql);
}

function changesTables(sql: string): boolean {
  return /^\s*(create|alter|drop)\b/i.test(sql);
}
