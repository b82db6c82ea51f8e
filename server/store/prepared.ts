import { createHash } from 'node:crypto';
import type { Compilable, CompiledQuery, QueryResult } from 'kysely';
import type { Db } from './db.ts';

/** The placeholder of a value that each run supplies. */
class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A query with its values. `row` has no value: it is the type of the rows. */
export interface BoundQuery<R> extends CompiledQuery {
  /** Of the text and the fixed parameters: equal queries have the same one. */
  readonly identity: number;
  /** By parameter: whether each run supplies it. The other ones are fixed. */
  readonly isSupplied: readonly boolean[];
  readonly row?: R;
}

/** Runs a query whose SQL is already built. */
interface Prepared<P, R> {
  (db: Db, values: P): Promise<QueryResult<R>>;
  /** For `readTogether`. */
  bind(values: P): BoundQuery<R>;
}

const names = new Map<string, string>();
const identities = new Map<string, number>();

/**
 * Lets PostgreSQL keep this statement for a connection. For a bounded number of texts, whose results keep their columns:
 * a kept statement fails once `*` means other ones, which a migration beside this process can add.
 */
export function nameStatement(sql: string): void {
  names.set(sql, `foyer_${createHash('sha256').update(sql).digest('base64url')}`);
}

/** The name under which PostgreSQL may keep the statement; undefined: it parses and plans it at each run. */
export const statementName = (sql: string): string | undefined => names.get(sql);

/**
 * Builds a query's SQL once: building and compiling it takes longer than SQLite's answer. For frequent queries.
 * @param build gets a placeholder for each value; they may be used wherever Kysely takes a value, but not read
 * @example prepare<{ id: string }, { name: string }>((v) => db.selectFrom('clients').select('name').where('id', '=',
 * v.id))
 */
export function prepare<P extends object, R>(build: (values: P) => Compilable<R>): Prepared<P, R> {
  const placeholders = new Proxy({} as P, { get: (_target, name) => new Placeholder(String(name)) });
  const compiled = build(placeholders).compile();
  if (!compiled.sql.includes('*')) nameStatement(compiled.sql);
  const content = JSON.stringify([compiled.sql, compiled.parameters]);
  const identity = identities.get(content) ?? identities.size;
  identities.set(content, identity);
  const isSupplied = compiled.parameters.map((value) => value instanceof Placeholder);
  const bind = (values: P): BoundQuery<R> => ({
    ...compiled,
    identity,
    isSupplied,
    parameters: compiled.parameters.map((value) =>
      value instanceof Placeholder ? Reflect.get(values, value.name) : value,
    ),
  });
  return Object.assign((db: Db, values: P) => db.executeQuery<R>(bind(values)), { bind });
}

/**
 * The same for a function that gets its database or transaction from its caller: built once for each opened database,
 * whose adapter its transactions share.
 */
export function prepareOnce<P extends object, R>(
  build: (db: Db, values: P) => Compilable<R>,
): (db: Db, values: P) => Promise<QueryResult<R>> {
  const known = new WeakMap<object, Prepared<P, R>>();
  return (db, values) => {
    const { adapter } = db.getExecutor();
    const query = known.get(adapter) ?? prepare<P, R>((v) => build(db, v));
    known.set(adapter, query);
    return query(db, values);
  };
}
