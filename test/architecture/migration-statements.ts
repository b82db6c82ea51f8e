import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Migration } from '../../server/store/migrations/migration.ts';

/** The statements of a migration, in both dialects. No database runs them: each query answers no rows. */
export async function listStatements(migration: Migration): Promise<string[]> {
  const statements: string[] = [];
  for (const kind of ['sqlite', 'postgres'] as const) {
    const postgres = kind === 'postgres';
    const db = new Kysely<never>({
      dialect: {
        createAdapter: () => (postgres ? new PostgresAdapter() : new SqliteAdapter()),
        createDriver: () => new DummyDriver(),
        createIntrospector: (executor) =>
          postgres ? new PostgresIntrospector(executor) : new SqliteIntrospector(executor),
        createQueryCompiler: () => (postgres ? new PostgresQueryCompiler() : new SqliteQueryCompiler()),
      },
      log({ query }) {
        statements.push(query.sql.replaceAll(/\s+/g, ' ').trim());
      },
    });
    await migration.up({ schema: db.schema, executor: db, kind });
    await db.destroy();
  }
  return statements;
}

/** Tables, `table.column`s and unique indexes of the statements so far. */
export interface Objects {
  /** Made by the same migration. */
  fresh: Set<string>;
  uniqueIndexes: Set<string>;
}

const columnsIn = (list: string) => list.split(',').map((name) => name.replaceAll(/["\s]|(?:asc|desc)$/g, ''));

/** A new column is allowed if rows of earlier code, which do not name it, can be inserted. */
function addsColumn(definition: string, table: string, { fresh }: Objects): boolean {
  const [, column = ''] = /^"(\w+)"/.exec(definition) ?? [];
  fresh.add(`${table}.${column}`);
  if (fresh.has(table)) return true;
  const isOptional = !/\bnot null\b/.test(definition) || /\bdefault\b/.test(definition);
  return isOptional && !/\b(?:unique|primary key|references|check|generated)\b/.test(definition);
}

/** A unique index is allowed if earlier code writes none of its columns, or none of its table. */
function addsUniqueIndex([name, table, columns]: [string, string, string], { fresh, uniqueIndexes }: Objects): boolean {
  uniqueIndexes.add(name);
  return fresh.has(table) || columnsIn(columns).every((column) => fresh.has(`${table}.${column}`));
}

/** Values of new columns alone: earlier code does not read them. */
function fillsNewColumns(table: string, assignments: string, { fresh }: Objects): boolean {
  const columns = [...assignments.matchAll(/(?:^|,)\s*"?(\w+)"?\s*=/g)].map(([, column]) => `${table}.${column}`);
  return columns.length > 0 && columns.every((name) => fresh.has(name));
}

/** Each form of statement that may be allowed, with its condition; any other form is refused. */
const forms: readonly (readonly [RegExp, (match: string[], objects: Objects) => boolean])[] = [
  [
    /^create table (?:if not exists )?"(\w+)"/,
    ([, table = ''], { fresh }) => {
      fresh.add(table);
      return true;
    },
  ],
  [/^create index /, () => true],
  [
    /^create unique index "(\w+)" on "(\w+)" \(([^)]*)\)/,
    ([, name = '', table = '', columns = ''], objects) => addsUniqueIndex([name, table, columns], objects),
  ],
  // A unique one may be the target of "on conflict".
  [/^drop index "(\w+)"$/, ([, name = ''], { uniqueIndexes }) => !uniqueIndexes.has(name)],
  [
    /^alter table "(\w+)" add column (.*)$/,
    ([, table = '', definition = ''], objects) => addsColumn(definition, table, objects),
  ],
  [
    /^update "?(\w+)"? set (.*?)(?: where .*)?$/,
    ([, table = '', assignments = ''], objects) => fillsNewColumns(table, assignments, objects),
  ],
];

/** The statements on whose result the code of the release before may fail. */
export function findContractions(statements: readonly string[], uniqueIndexes: Set<string>): string[] {
  const objects: Objects = { fresh: new Set(), uniqueIndexes };
  return statements.filter((statement) => {
    const [form, isAllowed] = forms.find(([pattern]) => pattern.test(statement)) ?? [];
    return !(form && isAllowed?.([...(form.exec(statement) ?? [])], objects));
  });
}
