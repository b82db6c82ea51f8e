import { postgresPoolSize, type RedisFacts, type SqliteFacts, visitorDataLevel } from '../../store/index.ts';
import { counted, present } from '../text.ts';
import { type Area, bytesText, type Finding, rounded } from './finding.ts';
import type { PasswordFacts } from './passwords.ts';
import type { PostgresFacts } from './postgres.ts';
import { fault, note, ok, row, table, warning } from './table.ts';

/** The response time of a store on an open connection. */
export const judgeAnswer = (area: Area, name: string, ms: number): Finding[] =>
  table(area, [
    ok(`${area}.answer`, ms < 20)`${name} answers in ${rounded(ms)} ms.`,
    row(ms < 200 ? 'note' : 'warning')(`${area}.slow`, ms >= 20)`${name} answers in ${rounded(ms)} ms.
    Why: A sign-in asks the stores some ten times: each waits that long.
    Do: Put the store nearer (same building, same network), or see what keeps it busy.`,
  ]);

interface Unavailable {
  name: string;
  /** The variable with its address. */
  variable: string;
  /** The error in words. */
  reason: string;
}

export function judgeUnavailable(area: Area, { name, variable, reason }: Unavailable): Finding[] {
  // The words of SQLITE_NOTADB and SQLITE_CORRUPT.
  if (/file is not a database|disk image is malformed/.test(reason))
    return judgeSqlite(area, name, { damage: reason, journalMode: 'wal', sizeBytes: 0 });
  return table(area, [
    fault(`${area}.answer`)`${name} cannot be used: ${reason}
    Why: Without it no one can sign in, and Foyer does not start.
    Do: See that it runs and can be reached from this host, and that ${variable} is right.`,
  ]);
}

/** Reading more of a file than this takes seconds. */
export const maxReadBytes = 2e9;

/** A SQLite file: undamaged, and in the mode for several processes. */
export function judgeSqlite(area: Area, name: string, { damage, journalMode, sizeBytes }: SqliteFacts): Finding[] {
  const size = bytesText(sizeBytes);
  return table(area, [
    note('sqlite.check', damage === undefined)`${name} has ${size}, so it was not read through.
    Why: Damage would be found too late.
    Do: Now and then, when little is going on: sqlite3 ${name} 'PRAGMA quick_check'`,
    ok('sqlite.check', damage === 'ok')`${name} (${size}) is whole.`,
    fault('sqlite.check', name === 'short-lived.db')`${name} is damaged: ${damage}
    Why: What it still answers may be wrong, and it will get worse.
    Do: Stop Foyer, remove the file and those beside it, start again: members sign in once more, nothing else is lost.`,
    fault('sqlite.check')`${name} is damaged: ${damage}
    Why: What it still answers may be wrong, and it will get worse.
    Do: Stop Foyer, keep a copy, bring back the latest backup (docs/production.md), and look at the disk.`,
    warning('sqlite.wal', journalMode !== 'wal')`${name} is in the journal mode ${journalMode}, not wal.
    Why: Readers then wait for writers; Foyer sets wal at its start, so something else has changed it.
    Do: Restart Foyer, and let no other program change the file.`,
  ]);
}

export const judgeNewFile = (): Finding[] =>
  table('key-value', [ok('key-value.file')`short-lived.db is not there yet: the first start makes it.`]);

/** The requirements for PostgreSQL. */
export function judgePostgres({ version, maxConnections, reserved, ...facts }: PostgresFacts): Finding[] {
  const [major, free] = [Math.floor(version / 10_000), maxConnections - reserved];
  // A reload has one additional worker; a migration has its own connection; so has this command.
  const needed = (facts.workers + 1) * postgresPoolSize + 2;
  const pools = `${facts.workers} workers with ${postgresPoolSize} connections each`;
  return table('database', [
    fault('postgres.version', version < 140_000)`PostgreSQL ${major}.
    Why: Foyer is written for 14 and newer, and older ones get no security updates any more.
    Do: Upgrade PostgreSQL.`,
    ok('postgres.version')`PostgreSQL ${major}.`,
    warning('postgres.connections', needed > free)`
    max_connections leaves ${free} connections, and one host takes up to ${needed} (${pools}, one more during a reload, and commands: ${needed}).
    Why: When they run out, sign-ins are answered 503.
    Do: Set max_connections to at least ${needed + reserved} for each host that serves, or a smaller WEB_CONCURRENCY.`,
    ok('postgres.connections')`max_connections leaves ${free}; one host takes up to ${needed}.`,
    fault('postgres.rights', !facts.mayMakeTables)`The user of DATABASE_URL may not make tables.
    Why: Each release may have migrations: a start that has some to apply ends.
    Do: ALTER DATABASE … OWNER TO the user (or GRANT CREATE ON SCHEMA public), or run \`foyer migrate\` as another user.`,
    fault('postgres.standby', facts.standby)`This PostgreSQL is a standby: it takes no writes.
    Why: No one can sign in.
    Do: Let DATABASE_URL name the primary (several hosts with target_session_attrs=read-write, or the address that follows it).`,
    fault('postgres.encoding', facts.encoding !== 'UTF8')`The database’s encoding is ${facts.encoding}.
    Why: Names of members that have other letters cannot be stored.
    Do: Make a database with ENCODING UTF8 and move what is in this one.`,
  ]);
}

export interface TableFacts {
  pending: readonly string[];
  unknown: readonly string[];
  /** Those of them with which this Foyer cannot work. */
  incompatible: readonly string[];
  empty: boolean;
  stamped: boolean;
  production: boolean;
}

/** The tables belong to this Foyer and are fit for production. */
export const judgeTables = ({ pending, unknown, incompatible, empty, stamped, production }: TableFacts): Finding[] =>
  table('database', [
    note('database.migrations', empty)`The database is empty.
    Why: The first start makes the tables; if Foyer has run before, this is not the server’s database.
    Do: Run \`foyer migrate\`, start Foyer, or mend DATABASE_URL or DATA_DIR.`,
    warning('database.migrations', pending.length > 0)`
    ${counted(pending.length, 'migration')} pending: ${pending.join(', ')}.
    Why: The database is older than this Foyer: commands refuse to work, and the next start changes the tables.
    Do: Make a backup, then run \`foyer migrate\`, or start Foyer.`,
    fault('database.too-new', incompatible.length > 0)`
    A newer Foyer has changed the tables so that this one fails on them: ${incompatible.join(', ')}.
    Why: Processes of this release are not ready (/readyz), and it does not start any more.
    Do: Install the newer Foyer here too; to go back, restore the backup from before its migrations.`,
    warning('database.newer', unknown.length > 0 && incompatible.length === 0)`
    A newer Foyer has changed the tables: ${unknown.join(', ')}.
    Why: This one works with them, but may not with those of the release after that.
    Do: Finish the upgrade: install the newer Foyer here too.`,
    ok('database.migrations', unknown.length === 0)`The tables are up to date.`,
    fault('database.sandbox', production && stamped)`A sandbox has used this database.
    Why: Its demo member has a known password; Foyer refuses to start with it in production.
    Do: Set DATABASE_URL or DATA_DIR to another one.`,
  ]);

const hashes = (count: number, kind: string) => `${count} ${kind} ${count === 1 ? 'hash is' : 'hashes are'}`;

/** How well the stored passwords are protected. */
export const judgePasswords = ({ weak, older, lost }: PasswordFacts): Finding[] =>
  table('database', [
    warning('passwords.lost', lost > 0)`${hashes(lost, 'password')} made with a key that is not in SECRET_KEY.
    Why: These members cannot sign in with their passwords; they have to set new ones by mail.
    Do: Put the old SECRET_KEY behind the new one, with a comma, for as long as this counts any.`,
    note('passwords.older', older > 0)`${hashes(older, 'password')} made without the newest SECRET_KEY.
    Why: Each is hashed again at the next sign-in with its password; an old key must stay in the list until then.
    Do: Keep the old SECRET_KEY in the list while this counts any.`,
    note('passwords.weak', weak > 0)`${hashes(weak, 'imported password')} below the least work.
    Why: An attacker with a copy of the database finds these passwords sooner; each is hashed again at the next sign-in.
    Do: Import such members with --wrap-weak-hashes, or take the hashes of those away who do not come back.`,
    ok('passwords.kept', weak + older + lost === 0)`All password hashes are made with the newest SECRET_KEY.`,
  ]);

function isOldRedis(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < 6 || (major === 6 && minor < 2);
}

const judgeRedisServer = ({ version, role, cluster }: RedisFacts): Finding[] =>
  table('key-value', [
    fault('redis.version', version !== undefined && isOldRedis(version))`Redis ${version}.
    Why: Foyer uses GETDEL, which came with 6.2: no one can sign in.
    Do: Upgrade Redis.`,
    ok('redis.version', version !== undefined)`Redis ${version}.`,
    fault('redis.cluster', cluster === true)`This Redis is part of a cluster.
    Why: Foyer’s scripts use several keys at once, which lie on different nodes there.
    Do: Use one Redis, or a master with replicas under Sentinel (redis+sentinel://…).`,
    fault('redis.role', role !== undefined && role !== 'master')`This Redis is a replica.
    Why: It takes no writes, or loses them: no one can sign in.
    Do: Let REDIS_URL name the master; with Sentinel write redis+sentinel://…/NAME, which follows it.`,
    ok('redis.role', role === 'master' && cluster !== true)`It is the master, and no cluster.`,
  ]);

function judgeRedisData({ policy, maxMemory, usedMemory = 0, appendOnly, save, lastWritesOk }: RedisFacts): Finding[] {
  const unset = maxMemory === 0 ? ' (and maxmemory is not set yet)' : '';
  const isFull = maxMemory !== undefined && maxMemory > 0 && usedMemory > 0.8 * maxMemory;
  return table('key-value', [
    ok('redis.eviction', policy === 'noeviction')`maxmemory-policy is noeviction.`,
    fault('redis.eviction', policy !== undefined)`maxmemory-policy is ${policy}${unset}.
    Why: When memory runs short, Redis throws away sessions, half-finished sign-ins and the marks that a code was used: members are signed out, and a stolen code may work twice.
    Do: CONFIG SET maxmemory-policy noeviction, and the same in redis.conf (a managed Redis: in its parameters).`,
    warning('redis.memory', isFull)`${bytesText(usedMemory)} of maxmemory ${bytesText(maxMemory ?? 0)} are used.
    Why: When it is full, Redis refuses writes and no one can sign in.
    Do: Give it more: CONFIG SET maxmemory …, and in redis.conf; or find out what else is kept there.`,
    fault('redis.disk', lastWritesOk === false)`The last time that Redis wrote to its disk it failed.
    Why: By default Redis then refuses writes: no one can sign in.
    Do: Look at its log and disk (space, permissions), then run BGSAVE.`,
    ok('redis.persistence', appendOnly === true)`It survives a restart (appendonly yes).`,
    ok('redis.persistence', !!save)`It survives a restart (save ${save}).`,
    warning('redis.persistence', appendOnly === false && save === '')`
    Redis keeps nothing on disk: appendonly is no, and save is empty.
    Why: Its next restart signs every member out and forgets the counts of guesses.
    Do: CONFIG SET appendonly yes, and the same in redis.conf.`,
  ]);
}

const commandsTodo =
  'Give the login of REDIS_URL all commands on the keys of Foyer (ACL: ~foyer:* +@all -@dangerous +info +config|get).';

/** By the first word of Redis's errors (https://redis.io/docs/latest/develop/reference/protocol-spec/). */
const refusedWriteTodos: readonly (readonly [RegExp, string])[] = [
  [
    /\bOOM\b/,
    'Give Redis more memory (CONFIG SET maxmemory, and redis.conf), or stop what fills it; maxmemory-policy stays noeviction.',
  ],
  [/\bNOPERM\b/, commandsTodo],
  [
    /\b(?:READONLY|MASTERDOWN)\b/,
    'Write the address of the master into REDIS_URL; with Sentinel, the address of the Sentinels.',
  ],
  [
    /\bMISCONF\b/,
    'Make room on the disk of Redis, and see in its log why it could not save; it takes writes again after the next BGSAVE that succeeds.',
  ],
];

/** @param refusal the error of Redis */
const todoForRefusedWrite = (refusal: string): string =>
  refusedWriteTodos.find(([pattern]) => pattern.test(refusal))?.[1] ??
  `${commandsTodo} See in the log of Redis why it refuses.`;

function judgeRedisAccess({ forbidden, policy, appendOnly, save, role, refusedWrite }: RedisFacts): Finding[] {
  const missing = present(
    policy === undefined && 'maxmemory-policy (must be noeviction)',
    appendOnly !== true && save === undefined && 'whether it keeps its content on disk (appendonly or save)',
    role === undefined && 'whether it is the master',
  );
  return table('key-value', [
    note('redis.unseen', forbidden.length > 0 && missing.length > 0)`
    Not to be seen, because Redis refuses ${forbidden.join(' and ')} to this login: ${missing.join('; ')}.
    Why: A wrong setting there loses sessions.
    Do: Look at them with another login (\`redis-cli INFO\`, \`redis-cli CONFIG GET maxmemory-policy\`), or in the settings of the host that runs it.`,
    fault('redis.write', refusedWrite !== undefined)`It does not let Foyer write and read: ${refusedWrite}
    Why: Foyer keeps sessions and codes there with SET, EVALSHA, GETDEL and the like: no one can sign in.
    Do: ${todoForRefusedWrite(refusedWrite ?? '')}`,
    ok('redis.write')`Writing, scripts and GETDEL work.`,
  ]);
}

/** The requirements for a Redis that stores sessions and codes. */
export const judgeRedis = (facts: RedisFacts): Finding[] =>
  [judgeRedisServer, judgeRedisData, judgeRedisAccess].flatMap((check) => check(facts));

/** The part of its size that visitors' data use in the key-value store. */
export function judgeVisitorData(bytes: number, maxBytes: number): Finding[] {
  const level = visitorDataLevel(bytes, maxBytes);
  const id = 'key-value.visitors';
  const seen = `${bytesText(bytes)} of at most ${bytesText(maxBytes)} are kept for visitors who are not signed in.`;
  const todo =
    'See in the log which addresses send many requests, and stop them at the proxy; or raise VISITOR_DATA_MAX_MB.';
  return table('key-value', [
    ok(id, level === 'normal')`${seen}`,
    note(id, level === 'high')`${seen}
    Why: From half on, a visitor has 10 minutes rather than an hour to sign in; after that the request begins again by itself.
    Do: ${todo}`,
    warning(id, level === 'full')`${seen}
    Why: Visitors are answered 503, unless a member has signed in with their browser before. Members who are signed in notice nothing.
    Do: ${todo}`,
    fault(id, level === 'over')`${seen}
    Why: All visitors are answered 503: no one who is not signed in gets to a client app. Members who are signed in notice nothing.
    Do: ${todo}`,
  ]);
}
