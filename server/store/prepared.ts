import type { Compilable, QueryResult } from 'kysely';
import type { Db } from './db.ts';

/** The placeholder of a value that each run supplies. */
class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** Runs a query whose SQL is already built. */
type Prepared<P, R> = (db: Db, values: P) => Promise<QueryResult<R>>;

/**
 * Builds a query's SQL once: building and compiling it takes longer than SQLite's answer. For frequent queries.
 * @param build gets a placeholder for each value; they may be used wherever Kysely takes a value, but not read
 * @example prepare<{ id: string }, { name: string }>((v) => db.selectFrom('clients').select('name').where('id', '=',
 * v.id))
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
