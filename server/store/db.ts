import { CamelCasePlugin, type Dialect, type Insertable, Kysely, type Selectable, type Transaction } from 'kysely';
import type { Schema } from './schema.ts';

/** The database, or a transaction in it: a query that takes this type runs in both. */
export type Db = Kysely<Schema> | Transaction<Schema>;

/** A row of a table, as a query returns it. */
export type Row<Table extends keyof Schema> = Selectable<Schema[Table]>;
/** A row to insert: a column that may be null may be absent. */
export type NewRow<Table extends keyof Schema> = Insertable<Schema[Table]>;

type SnakeCase<Name extends string> = Name extends `${infer Letter}${infer Rest}`
  ? `${Letter extends Lowercase<Letter> ? Letter : `_${Lowercase<Letter>}`}${SnakeCase<Rest>}`
  : Name;

/** The name of a table in the database. */
export type TableName = SnakeCase<keyof Schema>;

/** Tables and columns are camelCase in queries and rows, and snake_case in the database. */
export const createKysely = (dialect: Dialect): Kysely<Schema> =>
  new Kysely<Schema>({ dialect, plugins: [new CamelCasePlugin({ maintainNestedObjectKeys: true })] });
