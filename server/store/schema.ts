import type { TablesAToL } from './generated-tables-a-l.ts';
import type { TablesMToO } from './generated-tables-m-o.ts';
import type { TablesPToZ } from './generated-tables-p-z.ts';

/**
 * The tables, as Kysely sees them. Times are integer milliseconds since the epoch (UTC), booleans are 0 or 1, ids are
 * UUIDv7 text unless stated otherwise. SQLite and PostgreSQL have the same columns.
 */
export interface Schema extends TablesAToL, TablesMToO, TablesPToZ {}
