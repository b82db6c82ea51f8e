import { join } from 'node:path';
import { loadPlans, PlansFileError } from '../../../config/plans.ts';
import { readBacklog } from '../../messages/index.ts';
import { type ClientMetadata, listClients, listClientsWithOldSecrets, type SigningKeyInfo } from '../../oidc/index.ts';
import { dayMs } from '../../shared/index.ts';
import {
  type Database,
  inspectDatabase,
  inspectSqliteFile,
  isStamped,
  lastMigratedAt,
  migrationState,
} from '../../store/index.ts';
import { onOffer } from '../grantable-access.ts';
import { judgeClients, judgeKeys, judgeLegacy, judgePkce, judgeSecrets, judgeSensitive } from './checks-keys.ts';
import { judgeBacklog, judgeClock, judgeClockOfData, judgeMissing } from './checks-services.ts';
import {
  judgeAnswer,
  judgePasswords,
  judgePostgres,
  judgeSqlite,
  judgeTables,
  judgeUnavailable,
  maxReadBytes,
} from './checks-stores.ts';
import type { Finding } from './finding.ts';
import { readKeys } from './keys.ts';
import { readPasswords } from './passwords.ts';
import { readPostgres, readPostgresClock } from './postgres.ts';
import type { Setup } from './setup.ts';

async function timed(act: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await act();
  return performance.now() - started;
}

interface DatabaseReport {
  findings: Finding[];
  /** Undefined if they are unknown. */
  keys: readonly SigningKeyInfo[] | undefined;
}

/** No finding if the catalogue is unreadable: `plans.file` reports it. */
function checkRequirements(clients: readonly ClientMetadata[], { config, unreadable }: Setup): Finding[] {
  if (unreadable('PLANS_FILE')) return [];
  try {
    return judgeClients(clients, onOffer(loadPlans(config.PLANS_FILE)));
  } catch (error) {
    if (error instanceof PlansFileError) return [];
    throw error;
  }
}

/** The requirements of client apps, the most dangerous access, and the weakest protection. */
export async function checkClients({ db }: Database, setup: Setup): Promise<Finding[]> {
  const clients = await listClients(db);
  const oldSecrets = await listClientsWithOldSecrets(db, setup.now() - 365 * dayMs);
  return [
    ...checkRequirements(clients, setup),
    ...judgeSensitive(clients),
    ...judgeLegacy(clients),
    ...judgePkce(clients),
    ...judgeSecrets(oldSecrets),
  ];
}

/** Adds to the findings, so that they are not lost if the database becomes unavailable. */
async function readContent(database: Database, setup: Setup, findings: Finding[]): Promise<DatabaseReport['keys']> {
  const { config, now } = setup;
  const postgres = database.kind === 'postgres';
  // The first one opens the connection.
  await database.ping();
  const name = postgres ? 'PostgreSQL' : 'foyer.db';
  findings.push(...judgeAnswer('database', name, await timed(() => database.ping())));
  if (postgres) {
    findings.push(...judgePostgres(await readPostgres(database, config.WEB_CONCURRENCY)));
    findings.push(...judgeClock(await readPostgresClock(database, now)));
  }
  const state = await migrationState(database);
  const hasTable = new Set((await database.db.introspection.getTables()).map((table) => table.name));
  const stamped = hasTable.has('meta') && (await isStamped(database));
  findings.push(...judgeTables({ ...state, stamped, production: config.production }));
  if (!hasTable.has('signing_keys')) return undefined;
  if (!state.empty) findings.push(...judgeClockOfData(await lastMigratedAt(database), now()));
  const facts = await readKeys(database, setup);
  findings.push(...judgeKeys(facts));
  // The content of older tables is unknown.
  if (state.pending.length === 0) {
    findings.push(...(await checkClients(database, setup)));
    findings.push(...judgeBacklog({ ...(await readBacklog(database.db, now())), nowMs: now() }));
    findings.push(...judgePasswords(await readPasswords(database, setup)));
  }
  return facts.keys;
}

/** The database: it answers, matches this Foyer, and has usable keys. */
export async function checkDatabase(setup: Setup): Promise<DatabaseReport> {
  const { config, unreadable, say } = setup;
  if (unreadable('DATABASE_URL')) return { findings: judgeMissing('database', ['DATABASE_URL']), keys: undefined };
  const postgres = config.DATABASE_URL !== undefined;
  const [name, variable] = postgres ? ['PostgreSQL', 'DATABASE_URL'] : ['foyer.db', 'DATA_DIR'];
  const findings: Finding[] = [];
  let database: Database | undefined;
  try {
    const file = postgres ? undefined : await inspectSqliteFile(join(config.DATA_DIR, name), maxReadBytes);
    if (file) findings.push(...judgeSqlite('database', name, file));
    database = await inspectDatabase(config.DATABASE_URL, config.DATA_DIR);
    if (!database) {
      const nothing = {
        pending: [],
        unknown: [],
        incompatible: [],
        empty: true,
        stamped: false,
        production: config.production,
      };
      return { findings: judgeTables(nothing), keys: undefined };
    }
    return { keys: await readContent(database, setup, findings), findings };
  } catch (error) {
    findings.push(...judgeUnavailable('database', { name, variable, reason: say(error) }));
    return { findings, keys: undefined };
  } finally {
    await database?.close().catch(() => {});
  }
}
