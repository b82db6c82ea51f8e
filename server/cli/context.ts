import { setTimeout } from 'node:timers/promises';
import { type Config, loadConfig } from '../../config/load.ts';
import { loadPlans } from '../../config/plans.ts';
import { type Catalogue, createCatalogue } from '../billing/index.ts';
import { createBoxes, openStores, type SecretBoxes } from '../deps.ts';
import { createLog } from '../http/index.ts';
import { applyTexts } from '../load-settings.ts';
import { createOutbox } from '../messages/index.ts';
import { createGrantStore, createLogoutNotices, type GrantStore } from '../oidc/index.ts';
import { type Database, type KeyValueStore, lastMigratedAt, migrate, migrationState } from '../store/index.ts';
import { CliError, exitCodes } from './errors.ts';
import type { CliIo } from './io.ts';
import { counted } from './text.ts';

/** The stores of the Foyer with this configuration, whether it is running or not. */
export interface Context {
  io: CliIo;
  config: Config;
  database: Database;
  kv: KeyValueStore;
  boxes: SecretBoxes;
  grants: GrantStore;
  /** Read on demand. @throws {PlansFileError} */
  catalogue(): Catalogue;
  now: () => number;
}

/** No tables at all: no Foyer has been started on this database yet. */
async function isEmpty(database: Database): Promise<boolean> {
  return (await database.db.introspection.getTables()).length === 0;
}

/** How long after a migration another process may still be applying the next one. */
const onItsWayMs = 5_000;

/** The pending migrations, after other processes have finished theirs. Whether there was any table is checked first. */
async function readMigrationState(
  database: Database,
): Promise<{ isNew: boolean; pending: string[]; incompatible: string[] }> {
  const isNew = await isEmpty(database);
  const { pending, incompatible, empty } = await migrationState(database);
  const last = isNew || empty || pending.length === 0 ? undefined : await lastMigratedAt(database);
  // The machine's clock: it is compared with the time that another process wrote by its own.
  if (last === undefined || Date.now() - last > onItsWayMs) return { isNew, pending, incompatible };
  await setTimeout(100);
  return readMigrationState(database);
}

/**
 * A running Foyer may be using the database: only a start or `foyer migrate` applies migrations, never another command.
 */
async function bringUpToDate({ database, io }: Context): Promise<void> {
  const { isNew, pending, incompatible } = await readMigrationState(database);
  if (incompatible.length > 0) {
    throw new CliError(
      exitCodes.trouble,
      `A newer Foyer has changed the database so that this one cannot work with it (${incompatible.join(', ')}): use the newer one.`,
    );
  }
  if (pending.length === 0) return;
  if (!isNew) {
    throw new CliError(
      exitCodes.trouble,
      `The database is older than this Foyer (${counted(pending.length, 'migration')} pending): run \`foyer migrate\`, or start Foyer.`,
    );
  }
  await migrate(database);
  io.stderr.write('The database was empty: its tables have been made.\n');
}

/**
 * Opens the stores of the server's configuration, runs `act` and closes them.
 * @param options.migrated false for a command that migrates itself, or leaves the tables as they are
 * @param options.config undefined: the server's
 */
export async function withContext<T>(
  io: CliIo,
  act: (context: Context) => Promise<T>,
  { migrated = true, config = loadConfig(io.env) }: { migrated?: boolean; config?: Config } = {},
): Promise<T> {
  const now = io.now ?? Date.now;
  applyTexts(config);
  const { database, kv } = await openStores(config, createLog('silent'));
  try {
    const boxes = createBoxes(config.SECRET_KEYS);
    // A running Foyer delivers in its next turn.
    const notices = createLogoutNotices(createOutbox({ box: boxes.outbox, now }));
    const grants = createGrantStore({ database, box: boxes.oidc, notices, now });
    let plans: Catalogue | undefined;
    const catalogue = () => {
      plans ??= createCatalogue(loadPlans(config.PLANS_FILE));
      return plans;
    };
    const context: Context = { io, config, database, kv, boxes, grants, catalogue, now };
    if (migrated) await bringUpToDate(context);
    return await act(context);
  } finally {
    await Promise.all([kv.close(), database.close()]);
  }
}
