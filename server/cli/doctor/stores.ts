import type { SigningKeyInfo } from '../../oidc/index.ts';
import {
  type Database,
  inspectDatabase,
  inspectRedis,
  inspectVisitorData,
  isStamped,
  migrationState,
} from '../../store/index.ts';
import { counted } from '../text.ts';
import { checkClients, checkRisks } from './clients.ts';
import { judgeClock } from './clock.ts';
import { notLookedAt } from './configuration.ts';
import { type Area, type Finding, findingsFor, rounded, those } from './finding.ts';
import { judgeKeys, lookAtKeys } from './keys.ts';
import { judgePasswords, lookAtPasswords } from './passwords.ts';
import { judgePostgres, lookAtPostgres, readPostgresClock } from './postgres.ts';
import { judgeRedis } from './redis.ts';
import type { Setup } from './setup.ts';
import { judgeSqlite, lookAtSqlite } from './sqlite.ts';
import { judgeVisitorData } from './visitors.ts';
import { defaultLimitMs } from './web.ts';

const slowFromMs = 20;
const tooSlowFromMs = 200;

/** The response time of a store on an open connection. */
export function judgeAnswer(area: Area, name: string, ms: number): Finding {
  const { ok, note, warning } = findingsFor(area);
  const seen = `${name} answers in ${rounded(ms)} ms.`;
  if (ms < slowFromMs) return ok(`${area}.answer`, seen);
  return (ms < tooSlowFromMs ? note : warning)(`${area}.slow`, {
    seen,
    why: 'A sign-in asks the stores some ten times: each waits that long.',
    todo: 'Put the store nearer (same building, same network), or see what keeps it busy.',
  });
}

interface Unavailable {
  name: string;
  /** The variable with its address. */
  variable: string;
  /** The error in words. */
  reason: string;
}

function unavailable(area: Area, { name, variable, reason }: Unavailable): Finding {
  return findingsFor(area).fault(`${area}.answer`, {
    seen: `${name} cannot be used: ${reason}`,
    why: 'Without it no one can sign in, and Foyer does not start.',
    todo: `See that it runs and can be reached from this host, and that ${variable} is right.`,
  });
}

export interface TableFacts {
  pending: readonly string[];
  unknown: readonly string[];
  empty: boolean;
  stamped: boolean;
  production: boolean;
}

/** Checks that the tables belong to this Foyer and are fit for production. */
export function judgeTables({ pending, unknown, empty, stamped, production }: TableFacts): Finding[] {
  const { ok, note, warning, fault } = findingsFor('database');
  return those(
    empty &&
      note('database.migrations', {
        seen: 'The database is empty.',
        why: 'The first start makes the tables; if Foyer has run before, this is not the server’s database.',
        todo: 'Run `foyer migrate`, start Foyer, or mend DATABASE_URL or DATA_DIR.',
      }),
    !empty &&
      pending.length > 0 &&
      warning('database.migrations', {
        seen: `${counted(pending.length, 'migration')} pending: ${pending.join(', ')}.`,
        why: 'The database is older than this Foyer: commands refuse to work, and the next start changes the tables.',
        todo: 'Make a backup, then run `foyer migrate`, or start Foyer.',
      }),
    unknown.length > 0 &&
      warning('database.newer', {
        seen: `A newer Foyer has changed the tables: ${unknown.join(', ')}.`,
        why: 'This one does not know them, and may fail on them.',
        todo: 'Install the newer Foyer here too.',
      }),
    !empty && pending.length === 0 && unknown.length === 0 && ok('database.migrations', 'The tables are up to date.'),
    production &&
      stamped &&
      fault('database.sandbox', {
        seen: 'A sandbox has used this database.',
        why: 'Its demo member has a known password; Foyer refuses to start with it in production.',
        todo: 'Set DATABASE_URL or DATA_DIR to another one.',
      }),
  );
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await act();
  return performance.now() - started;
}

export interface DatabaseReport {
  findings: Finding[];
  /** Undefined if they are unknown. */
  keys: SigningKeyInfo[] | undefined;
}

/** Adds to the findings, so that they are not lost if the database becomes unavailable. */
async function lookInside(
  database: Database,
  setup: Setup,
  findings: Finding[],
): Promise<SigningKeyInfo[] | undefined> {
  const { config, now } = setup;
  const postgres = database.kind === 'postgres';
  // The first one opens the connection.
  await database.ping();
  const name = postgres ? 'PostgreSQL' : 'foyer.db';
  findings.push(judgeAnswer('database', name, await timed(() => database.ping())));
  if (postgres) {
    findings.push(...judgePostgres(await lookAtPostgres(database, config.WEB_CONCURRENCY)));
    findings.push(judgeClock(await readPostgresClock(database, now)));
  }
  const state = await migrationState(database);
  const hasTable = new Set((await database.db.introspection.getTables()).map((table) => table.name));
  const stamped = hasTable.has('meta') && (await isStamped(database));
  findings.push(...judgeTables({ ...state, stamped, production: config.production }));
  if (!hasTable.has('signing_keys')) return undefined;
  const facts = await lookAtKeys(database, setup);
  findings.push(...judgeKeys(facts));
  // The content of older tables is unknown.
  if (state.pending.length === 0) {
    findings.push(...(await checkClients(database, setup)), ...(await checkRisks(database)));
    findings.push(...judgePasswords(await lookAtPasswords(database, setup)));
  }
  return [...facts.keys];
}

/** The database: it answers, matches this Foyer, and has usable keys. */
export async function checkDatabase(setup: Setup): Promise<DatabaseReport> {
  const { config, unreadable, say } = setup;
  if (unreadable('DATABASE_URL')) return { findings: [notLookedAt('database', ['DATABASE_URL'])], keys: undefined };
  const postgres = config.DATABASE_URL !== undefined;
  const [name, variable] = postgres ? ['PostgreSQL', 'DATABASE_URL'] : ['foyer.db', 'DATA_DIR'];
  const findings: Finding[] = [];
  let database: Database | undefined;
  try {
    const file = postgres ? undefined : await lookAtSqlite(config.DATA_DIR, 'foyer.db');
    if (file) findings.push(...judgeSqlite('database', 'foyer.db', file));
    database = await inspectDatabase(config.DATABASE_URL, config.DATA_DIR);
    if (!database) {
      const nothing = { pending: [], unknown: [], empty: true, stamped: false, production: config.production };
      return { findings: judgeTables(nothing), keys: undefined };
    }
    return { keys: await lookInside(database, setup, findings), findings };
  } catch (error) {
    return {
      findings: [...findings, unavailable('database', { name, variable, reason: say(error) })],
      keys: undefined,
    };
  } finally {
    await database?.close().catch(() => {});
  }
}

/** Short-lived state: Redis, or the embedded file. */
export async function checkKeyValue({ config, unreadable, say, now, web }: Setup): Promise<Finding[]> {
  if (unreadable('REDIS_URL')) return [notLookedAt('key-value', ['REDIS_URL'])];
  const { REDIS_URL: url } = config;
  const visitors = async () => {
    if (unreadable('VISITOR_DATA_MAX_MB')) return [notLookedAt('key-value', ['VISITOR_DATA_MAX_MB'])];
    const bytes = await inspectVisitorData(url, config.DATA_DIR);
    return bytes === undefined ? [] : [judgeVisitorData(bytes, config.VISITOR_DATA_MAX_MB * 1_000_000)];
  };
  try {
    if (url === undefined) {
      const file = await lookAtSqlite(config.DATA_DIR, 'short-lived.db');
      if (file) return [...judgeSqlite('key-value', 'short-lived.db', file), ...(await visitors())];
      return [
        findingsFor('key-value').ok('key-value.file', 'short-lived.db is not there yet: the first start makes it.'),
      ];
    }
    const facts = await inspectRedis(url, { now, limitMs: web.limitMs ?? defaultLimitMs });
    return [
      judgeAnswer('key-value', 'Redis', facts.pingMs),
      ...judgeRedis(facts, say),
      ...(facts.clock ? [judgeClock({ source: 'Redis', ...facts.clock })] : []),
      ...(await visitors()),
    ];
  } catch (error) {
    const [name, variable] = url === undefined ? ['short-lived.db', 'DATA_DIR'] : ['Redis', 'REDIS_URL'];
    return [unavailable('key-value', { name, variable, reason: say(error) })];
  }
}
