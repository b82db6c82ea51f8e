import { sql } from 'kysely';
import type { Database } from '../../store/index.ts';
import type { ClockReading } from './checks-services.ts';

export interface PostgresFacts {
  /** As `server_version_num`: 160004. */
  version: number;
  maxConnections: number;
  /** Reserved for superusers. */
  reserved: number;
  /** A standby is read-only. */
  standby: boolean;
  /** UTF8 for a properly created database. */
  encoding: string;
  /** Whether the user of DATABASE_URL may make tables, as migrations do. */
  mayMakeTables: boolean;
  workers: number;
}

export async function readPostgres({ db }: Database, workers: number): Promise<PostgresFacts> {
  const { rows } = await sql<Omit<PostgresFacts, 'workers'>>`
    select current_setting('server_version_num')::int as "version",
      current_setting('max_connections')::int as "maxConnections",
      current_setting('superuser_reserved_connections')::int as "reserved",
      pg_is_in_recovery() as "standby",
      current_setting('server_encoding') as "encoding",
      coalesce(has_schema_privilege(current_schema(), 'create'), false) as "mayMakeTables"`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('PostgreSQL answered nothing');
  return { ...row, workers };
}

export async function readPostgresClock({ db }: Database, now: () => number): Promise<ClockReading> {
  const beforeMs = now();
  const { rows } = await sql<{ ms: number }>`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`.execute(
    db,
  );
  return { source: 'PostgreSQL', beforeMs, theirsMs: Number(rows[0]?.ms), afterMs: now() };
}
