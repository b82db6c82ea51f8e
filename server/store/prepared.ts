import type { Compilable, QueryResult } from 'kysely';
import type { Db } from './db.ts';

/** Stands in a query for a value that each run brings. */
class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** Runs a query whose SQL is made already. */
export type Prepared<P, R> = (db: Db, values: P) => Promise<QueryResult<R>>;

/**
 * Makes a query's SQL once: building and compiling it takes longer than SQLite needs to answer. For what many requests
 * ask.
 *
 * @param build gets a stand-in for each value; they may stand wherever Kysely takes a value, but not be looked at
 * @example prepare<{ id: string }, { name: string }>((v) => db.selectFrom('clients').select('name').where('id', '=', v.id))
 */
export function prepare<P extends object, R>(build: (values: P) => Compilable<R>): Prepared<P, R> {
  const placeholders = new Proxy({} as P, { get: (_target, name) => new Placeholder(String(name)) });
  const compiled = build(placeholders).compile();
  return (db, values) =>
    db.executeQuery<R>({
      ...compiled,
      parameters: compiled.parameters.map((value) =>
        value instanceof Placeholder ? Reflect.get(values, value.name) : value,
      ),
    });
}
