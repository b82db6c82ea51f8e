import type { Companion } from '../companion.ts';
import type { Deps } from '../deps.ts';
import { ensureDefaultClient, ensureKeys } from '../oidc/index.ts';
import {
  isClockBehind,
  isStamped,
  lastMigratedAt,
  migrate,
  migrationState,
  schemaState,
  stampSandbox,
} from '../store/index.ts';
import { StartError } from './start-error.ts';

type Announce = (line: string) => void;

/** Nothing is migrated if a newer release has changed the tables so that this one fails on them. */
async function requireUsableTables({ database, log }: Pick<Deps, 'database' | 'log'>): Promise<void> {
  const { unknown, incompatible } = await migrationState(database);
  if (incompatible.length > 0) {
    throw new StartError(
      `A newer release has changed the database so that this one cannot work with it (${incompatible.join(', ')}): start the newer release, or restore the backup from before its migrations.`,
    );
  }
  if (unknown.length > 0)
    log.warn({ migrations: unknown }, 'a newer release has migrated the database; this one works with the result');
}

/** Members can sign in with a wrong clock, so the start goes on. */
async function warnOfClock({ database, log, now }: Pick<Deps, 'database' | 'log' | 'now'>): Promise<void> {
  const { empty } = await migrationState(database);
  const tablesSince = empty ? undefined : await lastMigratedAt(database);
  if (tablesSince === undefined || !isClockBehind(tablesSince, now())) return;
  log.warn(
    { act: 'clock', now: new Date(now()).toISOString(), tables: new Date(tablesSince).toISOString() },
    'the clock of this machine is behind the database: set it, and restart',
  );
}

/**
 * A worker may run newer code than the process that started it, which has applied the migrations that it knew.
 * @throws {StartError} while migrations are pending, or if a newer release has made the tables unusable
 */
export async function requireMigrations({ database }: Pick<Deps, 'database'>): Promise<void> {
  const state = await schemaState(database);
  if (state === 'current' || state === 'newer') return;
  throw new StartError(
    state === 'older'
      ? 'The database is older than this release: run `foyer migrate`, then reload again.'
      : 'A newer release has changed the database so that this one cannot work with it: install the newer release here too.',
  );
}

/**
 * The work of a start before any request: migrations, the first signing keys, and in the sandbox its stamp and the
 * companion's own preparation.
 */
export async function prepare(deps: Deps, say: Announce, companion?: Companion): Promise<void> {
  const { config, database, boxes, now } = deps;
  await requireUsableTables(deps);
  await warnOfClock(deps);
  const { applied } = await migrate(database);
  if (applied.length > 0)
    say(`Database: applied ${applied.length === 1 ? '1 migration' : `${applied.length} migrations`}`);
  if (config.production && (await isStamped(database))) {
    throw new StartError(
      'This database has been used by a sandbox, so its demo member has a known password: set DATABASE_URL or DATA_DIR to another one.',
    );
  }
  await ensureKeys(database, boxes.keys, { nowMs: now() });
  await ensureDefaultClient(
    database,
    {
      id: config.DEFAULT_CLIENT_ID,
      name: config.BRAND_NAME,
      publicUrl: config.PUBLIC_URL,
      development: !config.production,
    },
    now(),
  );
  if (config.SANDBOX) {
    await stampSandbox(database, now());
    await companion?.prepare(deps);
  }
}

/** Announces the address when everything answers. */
export function announceReady(deps: Deps, say: Announce, companion?: Companion): void {
  const { config } = deps;
  say(`${config.BRAND_NAME} is ready: ${config.PUBLIC_URL}`);
  if (config.SANDBOX) for (const line of companion?.readyLines(deps) ?? []) say(line);
}
