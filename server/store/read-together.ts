import type { CompiledQuery } from 'kysely';
import type { Database } from './database.ts';
import { type BoundQuery, nameStatement } from './prepared.ts';

type Queries = Record<string, BoundQuery<unknown>>;
type FirstRows<Q extends Queries> = { [K in keyof Q]: Q[K] extends BoundQuery<infer R> ? R | undefined : never };

/** The texts of joined statements, by the texts of their parts. Bounded: the parts are prepared statements. */
const joined = new Map<string, string>();

function joinTexts(queries: [name: string, CompiledQuery][]): string {
  const key = queries.map(([name, { sql }]) => `${name} ${sql}`).join('\n');
  const known = joined.get(key);
  if (known !== undefined) return known;
  let before = 0;
  const parts = queries.map(([name, { sql, parameters }]) => {
    const numbered = sql.replace(/\$(\d+)/g, (_, number: string) => `$${Number(number) + before}`);
    before += parameters.length;
    return `(select row_to_json(part) from (${numbered}) as part) as "${name}"`;
  });
  const text = `select ${parts.join(', ')}`;
  joined.set(key, text);
  nameStatement(text);
  return text;
}

const properties = new Map<string, string>();

/** Kysely renames the columns of a result only, not those inside of a value. */
function toProperty(column: string): string {
  const known = properties.get(column) ?? column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  properties.set(column, known);
  return known;
}

/** @throws {RangeError} for a number that has lost digits */
function renamed(row: object): object {
  const entries = Object.entries(row).map(([name, value]: [string, unknown]) => {
    if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
      throw new RangeError(`${name} from the database does not fit into a number`);
    return [toProperty(name), value] as const;
  });
  return Object.fromEntries(entries);
}

/**
 * Reads the rows of several prepared queries, each of which finds one row at most, from one snapshot. PostgreSQL answers
 * them in one round trip; SQLite has none, and answers them one after the other.
 */
export async function readTogether<Q extends Queries>({ kind, db }: Database, queries: Q): Promise<FirstRows<Q>> {
  const all = Object.entries(queries);
  const found: Record<string, unknown> = {};
  if (kind === 'sqlite') {
    for (const [name, query] of all) found[name] = (await db.executeQuery(query)).rows[0];
    return found as FirstRows<Q>;
  }
  const [first] = all;
  if (!first) return found as FirstRows<Q>;
  const { rows } = await db.executeQuery<Record<string, object | null>>({
    ...first[1],
    sql: joinTexts(all),
    parameters: all.flatMap(([, { parameters }]) => parameters),
  });
  for (const [name] of all) {
    const row = rows[0]?.[name];
    found[name] = row ? renamed(row) : undefined;
  }
  return found as FirstRows<Q>;
}
