/** `server/store/generated-tables-*.ts`: the tables as Kysely sees them, from the migrations. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { migrate, openDatabase } from '../../server/store/index.ts';
import { notes, typesByColumn, typesByName } from './table-columns.mjs';

/**
 * @typedef {object} Column
 * @property {string} table
 * @property {string} name
 * @property {string} type text, integer or bigint
 * @property {boolean} isNullable
 * @property {boolean} hasDefault
 */

/**
 * Applies all migrations to a new SQLite database, and reads its columns. PostgreSQL has the same ones.
 * @returns {Promise<Column[]>}
 */
export async function readColumns() {
  const dataDir = mkdtempSync(join(tmpdir(), 'foyer-schema-'));
  const database = await openDatabase({ dataDir });
  try {
    await migrate(database);
    const { rows } = await sql`
      select tables.name as "table", columns.name, lower(columns.type) as type,
        columns."notnull" = 0 and columns.pk = 0 as nullable, columns.dflt_value is not null as defaults
      from sqlite_schema as tables, pragma_table_info(tables.name) as columns
      where tables.type = 'table' and tables.name not like 'sqlite_%' and tables.name <> 'schema_history'
      order by tables.name, columns.cid`.execute(database.db);
    return /** @type {Record<string, unknown>[]} */ (rows).map((row) => ({
      table: String(row.table),
      name: String(row.name),
      type: String(row.type),
      isNullable: row.nullable === 1,
      hasDefault: row.defaults === 1,
    }));
  } finally {
    await database.close();
    rmSync(dataDir, { recursive: true });
  }
}

const maxWidth = 120;

/** @param {string} name */
const toCamelCase = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());

/**
 * The comment of a table or column, in lines of the usual width.
 * @param {string | undefined} note
 * @param {string} indent
 * @returns {string[]}
 */
function toComment(note, indent) {
  if (note === undefined) return [];
  const line = `${indent}/** ${note} */`;
  if (line.length <= maxWidth) return [line];
  const lines = [`${indent} *`];
  for (const word of note.split(' ')) {
    const extended = `${lines.at(-1)} ${word}`;
    if (extended.length <= maxWidth) lines[lines.length - 1] = extended;
    else lines.push(`${indent} * ${word}`);
  }
  return [`${indent}/**`, ...lines, `${indent} */`];
}

/** @param {Column} column */
function toType({ table, name, type, isNullable, hasDefault }) {
  const named = typesByName.find(([pattern]) => pattern.test(name))?.[1];
  const narrow = typesByColumn[`${table}.${name}`] ?? named ?? (type === 'text' ? 'string' : 'number');
  const stored = isNullable ? `${narrow} | null` : narrow;
  return hasDefault ? `Generated<${stored}>` : stored;
}

/**
 * A column, with one member of a long union in each line, as the formatter writes it.
 * @param {Column} column
 */
function toProperty(column) {
  const [name, type] = [toCamelCase(column.name), toType(column)];
  const line = `    ${name}: ${type};`;
  if (line.length <= maxWidth) return line;
  return `    ${name}:\n${type.replace(/(?:^| \| )/g, (_, at) => `${at === 0 ? '' : '\n'}      | `)};`;
}

/** The tables by their first letters, because no file is longer than 300 lines. */
const parts = /** @type {const} */ ([
  ['a', 'l'],
  ['m', 'o'],
  ['p', 'z'],
]);

/**
 * @param {readonly Column[]} columns in the order of their tables
 * @returns {string} the properties of an interface, one for each table
 */
const toTables = (columns) =>
  columns
    .flatMap((column, index) => {
      const isFirst = columns[index - 1]?.table !== column.table;
      const isLast = columns[index + 1]?.table !== column.table;
      return [
        ...(isFirst ? [...toComment(notes[column.table], '  '), `  ${toCamelCase(column.table)}: {`] : []),
        ...toComment(notes[`${column.table}.${column.name}`], '    '),
        toProperty(column),
        ...(isLast ? ['  };'] : []),
      ];
    })
    .join('\n');

/**
 * An import of types, as the formatter writes it.
 * @param {string} tables
 */
function toImport(tables) {
  const types = [...new Set(typesByName.map(([, type]) => type))].sort();
  const used = types.filter((type) => new RegExp(`: (?:Generated<)?${type}\\b`).test(tables));
  const line = `import type { ${used.join(', ')} } from '../shared/index.ts';`;
  return line.length <= maxWidth ? line : line.replace('{ ', '{\n  ').replaceAll(', ', ',\n  ').replace(' }', ',\n}');
}

/**
 * @param {readonly Column[]} columns in the order of their tables
 * @returns {[file: string, source: string][]} the generated files of `server/store/`
 */
export function tableSources(columns) {
  return parts.map(([first, last]) => {
    const tables = toTables(columns.filter(({ table: [letter = ''] }) => letter >= first && letter <= last));
    const lines = [
      '// Generated from the migrations and `scripts/lib/table-columns.mjs` by `npm run docs`; a test fails when it is stale.',
      ...(tables.includes('Generated<') ? ["import type { Generated } from 'kysely';"] : []),
      ...(/: ProviderKind\b/.test(tables)
        ? ["import type { ProviderKind } from '../../config/standard-providers.ts';"]
        : []),
      toImport(tables),
      '',
      `export interface Tables${first.toUpperCase()}To${last.toUpperCase()} {`,
      tables,
      '}',
      '',
    ];
    return [`generated-tables-${first}-${last}.ts`, lines.join('\n')];
  });
}
