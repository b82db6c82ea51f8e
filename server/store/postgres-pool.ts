import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import pg from 'pg';
import { StoreUnavailable } from './key-value.ts';
import { statementName } from './prepared.ts';

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
/**
 * The server answers but cannot execute now: connection exceptions, no resources, operator intervention (which includes
 * the statement timeout), lock not available, a read-only standby, idle in transaction.
 */
const NOT_NOW = /^(08...|53...|57...|55P03|25006|25P03)$/;

/** Read-only: this connection is to a former primary, and another one leads to the present one. */
const READ_ONLY = /^25006$/;

/** Insufficient privilege. */
const NO_RIGHT = /^42501$/;

/** One request waits for one connection at a time, some for two or three: more would not get theirs in time. */
const maxWaiting = 1_000;

/** A `pg` pool for Kysely that converts errors of an unavailable server to StoreUnavailable. */
export function poolForKysely(pool: pg.Pool): PostgresPool {
  // Kysely recognizes connections by identity, so each client keeps one wrapper.
  const wrapped = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  return {
    options: pool.options,
    async connect() {
      if (pool.waitingCount >= maxWaiting)
        throw new StoreUnavailable(`PostgreSQL is busy: ${maxWaiting} operations wait for a connection`);
      const client = await pool.connect().catch((cause: unknown) => {
        throw new StoreUnavailable(`PostgreSQL cannot be reached: ${errorMessage(cause)}`, { cause });
      });
      const known = wrapped.get(client);
      if (known) return known;
      const fresh = new CheckedPoolClient(client);
      wrapped.set(client, fresh);
      return fresh;
    },
    end: () => pool.end(),
  };
}

class CheckedPoolClient implements PostgresPoolClient {
  readonly #client: pg.PoolClient;
  #broken = false;
  /** Why no further statement is sent: the rollback would wait for an answer as long as the lost statement did. */
  #lost: StoreUnavailable | undefined;

  constructor(client: pg.PoolClient) {
    this.#client = client;
    // A connection that breaks while it is checked out also emits; its queries report the error.
    client.on('error', () => {
      this.#broken = true;
    });
  }

  query<R>(sql: string, parameters: ReadonlyArray<unknown>): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query<R>(
    sql: string | PostgresCursor<R>,
    parameters: ReadonlyArray<unknown> = [],
  ): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof sql !== 'string') throw new TypeError('Streaming from PostgreSQL is not set up');
    return this.#run<R>(sql, parameters);
  }

  async #run<R>(sql: string, parameters: ReadonlyArray<unknown>): Promise<PostgresQueryResult<R>> {
    if (this.#lost) throw this.#lost;
    try {
      const name = statementName(sql);
      const values = [...parameters];
      const { command, rowCount, rows } = await this.#client.query({ text: sql, values, ...(name && { name }) });
      const untyped: unknown[] = rows;
      return { command: command as PostgresQueryResult<R>['command'], rowCount: rowCount ?? 0, rows: untyped as R[] };
    } catch (error) {
      throw this.#explain(error);
    }
  }

  #explain(error: unknown): unknown {
    if (error instanceof pg.DatabaseError) {
      if (NO_RIGHT.test(error.code ?? ''))
        return new StoreUnavailable(`PostgreSQL refuses its user: ${error.message}`, { cause: error });
      if (READ_ONLY.test(error.code ?? '')) this.#broken = true;
      return NOT_NOW.test(error.code ?? '') ? unavailable(error) : error;
    }
    // Thrown by this program before anything was sent, for example for a value that cannot be stored.
    if (error instanceof TypeError || error instanceof RangeError) return error;
    // No answer, or an incomplete one: this connection must not be used again.
    this.#broken = true;
    this.#lost = unavailable(error);
    return this.#lost;
  }

  release(destroy = false): void {
    this.#client.release(destroy || this.#broken);
  }
}

/** The transaction lost a conflict; a repetition may succeed. */
export function isRepeatable(error: unknown): boolean {
  return error instanceof pg.DatabaseError && [SERIALIZATION_FAILURE, DEADLOCK_DETECTED].includes(error.code ?? '');
}

function unavailable(cause: unknown): StoreUnavailable {
  return new StoreUnavailable(`PostgreSQL does not answer: ${errorMessage(cause)}`, { cause });
}

function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
