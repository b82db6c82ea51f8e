import { sql } from 'kysely';
import { type Database, postgresPoolSize } from '../../store/index.ts';
import type { ClockReading } from './clock.ts';
import { type Finding, findingsFor, those } from './finding.ts';

const { ok, warning, fault } = findingsFor('database');
const minVersion = 140_000;

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
  workers: number;
}

export async function lookAtPostgres({ db }: Database, workers: number): Promise<PostgresFacts> {
  const { rows } = await sql<Omit<PostgresFacts, 'workers'>>`
    select current_setting('server_version_num')::int as "version",
      current_setting('max_connections')::int as "maxConnections",
      current_setting('superuser_reserved_connections')::int as "reserved",
      pg_is_in_recovery() as "standby",
      current_setting('server_encoding') as "encoding"`.execute(db);
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

/** The requirements for PostgreSQL. */
export function judgePostgres({
  version,
  maxConnections,
  reserved,
  standby,
  encoding,
  workers,
}: PostgresFacts): Finding[] {
  const [major, free] = [Math.floor(version / 10_000), maxConnections - reserved];
  // A reload has one additional worker; a migration has its own connection; so has this command.
  const needed = (workers + 1) * postgresPoolSize + 2;
  const pools = `${workers} workers with ${postgresPoolSize} connections each, one more during a reload, and commands: ${needed}`;
  return those(
    version >= minVersion
      ? ok('postgres.version', `PostgreSQL ${major}.`)
      : fault('postgres.version', {
          seen: `PostgreSQL ${major}.`,
          why: 'Foyer is written for 14 and newer, and older ones get no security updates any more.',
          todo: 'Upgrade PostgreSQL.',
        }),
    needed <= free
      ? ok('postgres.connections', `max_connections leaves ${free}; one host takes up to ${needed}.`)
      : warning('postgres.connections', {
          seen: `max_connections leaves ${free} connections, and one host takes up to ${needed} (${pools}).`,
          why: 'When they run out, sign-ins are answered 503.',
          todo: `Set max_connections to at least ${needed + reserved} for each host that serves, or a smaller WEB_CONCURRENCY.`,
        }),
    standby &&
      fault('postgres.standby', {
        seen: 'This PostgreSQL is a standby: it takes no writes.',
        why: 'No one can sign in.',
        todo: 'Let DATABASE_URL name the primary (several hosts with target_session_attrs=read-write, or the address that follows it).',
      }),
    encoding !== 'UTF8' &&
      fault('postgres.encoding', {
        seen: `The database’s encoding is ${encoding}.`,
        why: 'Names of members that have other letters cannot be stored.',
        todo: 'Make a database with ENCODING UTF8 and move what is in this one.',
      }),
  );
}
