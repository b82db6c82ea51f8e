import { propertyIn } from '../shared/index.ts';
import type { TableName } from './db.ts';
import { sqliteCode } from './sqlite-errors.ts';

/** SQLITE_CONSTRAINT_UNIQUE and SQLITE_CONSTRAINT_PRIMARYKEY, https://www.sqlite.org/rescode.html */
const SQLITE_UNIQUE = new Set([2067, 1555]);
const POSTGRES_UNIQUE = '23505';

/**
 * True if a write failed because the value exists, in either database.
 * @param column `table.column`, as the database names them; without it any unique column counts.
 */
export function isUniqueViolation(error: unknown, column?: `${TableName}.${string}`): boolean {
  const columns = violatedColumns(error);
  return columns !== null && (column === undefined || columns.includes(column));
}

function violatedColumns(error: unknown): string[] | null {
  const code = sqliteCode(error);
  if (code !== undefined) {
    if (!SQLITE_UNIQUE.has(code)) return null;
    // UNIQUE constraint failed: oidc.model, oidc.id_hash
    const message = String(error);
    return message
      .slice(message.lastIndexOf(':') + 1)
      .split(',')
      .map((name) => name.trim());
  }
  // By shape, so that the client of PostgreSQL is loaded only where there is one.
  if (propertyIn(error, 'code') !== POSTGRES_UNIQUE) return null;
  // Key (model, id_hash)=(AccessToken, …) already exists.
  const names = /^Key \(([^)]*)\)=/.exec(String(propertyIn(error, 'detail')))?.[1] ?? '';
  return names.split(',').map((name) => `${propertyIn(error, 'table')}.${name.trim()}`);
}
