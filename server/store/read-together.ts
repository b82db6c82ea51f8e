import type { Database } from './database.ts';
import { gatherCalls } from './gather-calls.ts';
import { type BoundQuery, nameStatement } from './prepared.ts';

type Queries = Record<string, BoundQuery<unknown>>;
type FirstRows<Q extends Queries> = { [K in keyof Q]: Q[K] extends BoundQuery<infer R> ? R | undefined : never };

type Part = [name: string, query: BoundQuery<unknown>];
type Parts = readonly [Part, ...Part[]];

/** A row of each part, by the names of the parts. */
type JoinedRow = Record<string, object | null>;

/** @param refer the reference to a parameter, by its place among those of all parts */
function joinTexts(parts: Parts, refer: (place: number) => string): string {
  let before = 0;
  const columns = parts.map(([name, { sql, parameters }]) => {
    const text = sql.replace(/\$(\d+)/g, (_, number: string) => refer(before + Number(number) - 1));
    before += parameters.length;
    return `(select row_to_json(part) from (${text}) as part) as "${name}"`;
  });
  return `select ${columns.join(', ')}`;
}

/** The type of several values; 'other': those of several calls are not read together; undefined: the value is fixed. */
type ArrayType = 'text[]' | 'bigint[]' | 'other' | undefined;

function toArrayType(value: unknown, isSupplied: boolean | undefined): ArrayType {
  if (!isSupplied) return undefined;
  if (typeof value === 'string') return 'text[]';
  return Number.isSafeInteger(value) ? 'bigint[]' : 'other';
}

type Reader = (values: readonly unknown[]) => Promise<JoinedRow | undefined>;

/** Reads the parts with the values of one call. */
function createReader({ db }: Database, parts: Parts): Reader {
  const sql = joinTexts(parts, (place) => `$${place + 1}`);
  // Whatever the columns of the parts are, each part is one value: JSON.
  nameStatement(sql);
  return async (parameters) => {
    const { rows } = await db.executeQuery<JoinedRow>({ ...parts[0][1], sql, parameters });
    return rows[0];
  };
}

/** Reads the parts with the values of all calls of one turn of the event loop, by one statement. */
function createGatheringReader(database: Database, parts: Parts, types: readonly ArrayType[]): Reader {
  const readOne = createReader(database, parts);
  const columns = joinTexts(parts, (place) => (types[place] === undefined ? `$${place + 1}` : `asked.p${place}`));
  const places = [...types.keys()].filter((place) => types[place] !== undefined);
  const arrays = places.map((place) => `$${place + 1}::${types[place]}`);
  const names = [...places.map((place) => `p${place}`), 'place'];
  const source = `unnest(${arrays.join(', ')}) with ordinality as asked(${names.join(', ')})`;
  const sql = `${columns} from ${source} order by asked.place`;
  nameStatement(sql);
  return gatherCalls(async (calls) => {
    const [first] = calls;
    if (!first || calls.length === 1) return first ? [await readOne(first)] : [];
    const parameters = first.map((fixed, place) =>
      types[place] === undefined ? fixed : calls.map((values) => values[place]),
    );
    const { rows } = await database.db.executeQuery<JoinedRow>({ ...parts[0][1], sql, parameters });
    return rows;
  });
}

/** By what is read. Bounded: the parts are prepared statements. */
const readers = new WeakMap<Database, Map<string, Reader>>();

function findReader(database: Database, parts: Parts): Reader {
  const types = parts.flatMap(([, { parameters, isSupplied }]) =>
    parameters.map((value, at) => toArrayType(value, isSupplied[at])),
  );
  const key = `${parts.map(([name, { identity }]) => `${name} ${identity}`)} ${types}`;
  const ofDatabase = readers.get(database) ?? new Map<string, Reader>();
  readers.set(database, ofDatabase);
  const known = ofDatabase.get(key);
  if (known) return known;
  const isGathered = types.some((type) => type !== undefined) && !types.includes('other');
  const reader = isGathered ? createGatheringReader(database, parts, types) : createReader(database, parts);
  ofDatabase.set(key, reader);
  return reader;
}

const properties = new Map<string, string>();

/** Kysely renames the columns of a result only, not those inside of a value. */
function toProperty(column: string): string {
  const known = properties.get(column);
  if (known !== undefined) return known;
  const property = column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  properties.set(column, property);
  return property;
}

/** @throws {RangeError} for a number that has lost digits */
function renamed(row: object): object {
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) {
    if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
      throw new RangeError(`${name} from the database does not fit into a number`);
    result[toProperty(name)] = value;
  }
  return result;
}

/**
 * Reads the rows of several prepared queries, each of which finds one row at most, from one snapshot. PostgreSQL answers
 * them in one round trip, together with the same queries of the other requests of this turn of the event loop; SQLite
 * has no round trips, and answers them one after the other.
 */
export async function readTogether<Q extends Queries>(database: Database, queries: Q): Promise<FirstRows<Q>> {
  const [first, ...others] = Object.entries(queries);
  const found: Record<string, unknown> = {};
  if (!first) return found as FirstRows<Q>;
  const parts: Parts = [first, ...others];
  if (database.kind === 'sqlite') {
    for (const [name, query] of parts) found[name] = (await database.db.executeQuery(query)).rows[0];
    return found as FirstRows<Q>;
  }
  const row = await findReader(database, parts)(parts.flatMap(([, { parameters }]) => parameters));
  for (const [name] of parts) {
    const part = row?.[name];
    found[name] = part ? renamed(part) : undefined;
  }
  return found as FirstRows<Q>;
}
