import { checkConfiguration, judgeFolder, judgeMachine } from '../../server/cli/doctor/checks-host.ts';
import {
  judgeClients,
  judgeKeys,
  judgeLegacy,
  judgePkce,
  judgePublished,
  judgeSensitive,
} from '../../server/cli/doctor/checks-keys.ts';
import { judgeClock } from '../../server/cli/doctor/checks-services.ts';
import {
  judgeAnswer,
  judgePasswords,
  judgePostgres,
  judgeRedis,
  judgeSqlite,
  judgeTables,
  judgeVisitorData,
  type TableFacts,
} from '../../server/cli/doctor/checks-stores.ts';
import type { Finding } from '../../server/cli/doctor/finding.ts';
import type { KeyFacts } from '../../server/cli/doctor/keys.ts';
import { readSetup } from '../../server/cli/doctor/setup.ts';
import { type ClientRequest, clientMetadata } from '../../server/oidc/index.ts';
import { production } from '../attacks/production.ts';
import { goodFolder, goodMachine, goodPostgres, goodRedis } from './doctor-facts.ts';

const dayMs = 24 * 60 * 60_000;
const nowMs = Date.UTC(2026, 10, 23, 9);

const setupOf = (env: NodeJS.ProcessEnv) => readSetup(env, () => nowMs);

const unwritable = '/srv/foyer/data cannot be written by user foyer (998)';

export type Cases = Record<string, () => Finding | Finding[] | Promise<Finding | Finding[]>>;

/** One case for each variation of good facts. */
const vary = <F>(name: string, good: F, changes: Partial<F>[], judge: (facts: F) => Finding | Finding[]): Cases =>
  Object.fromEntries([{}, ...changes].map((change, n) => [`${name} ${n}`, () => judge({ ...good, ...change })]));

const many = <A extends unknown[]>(
  name: string,
  inputs: A[],
  judge: (...input: A) => ReturnType<Cases[string]>,
): Cases => Object.fromEntries(inputs.map((input, n) => [`${name} ${n}`, () => judge(...input)]));

const readable = [
  { name: 'foyer.db', mode: 0o100644, owner: 1000 },
  { name: 'short-lived.db', mode: 0o100604, owner: 0 },
];

const secret = production.SECRET_KEY;
const twilio = { TWILIO_ACCOUNT_SID: `AC${'1'.repeat(32)}`, TWILIO_AUTH_TOKEN: 'token', TWILIO_FROM: '+15557122661' };
const environments: NodeJS.ProcessEnv[] = [
  { ...production },
  { NODE_ENV: 'development' },
  { SANDBOX: 'true' },
  { NODE_ENV: 'test', PUBLIC_URL: 'http://foyer.test', SECRET_KEY: 'k'.repeat(40) },
  { ...production, TRUST_PROXY: '0', METRICS_PORT: '9464', METRICS_HOST: '0.0.0.0', COOKIE_DOMAIN: 'example.com' },
  { ...production, METRICS_PORT: '9464', METRICS_HOST: '203.0.113.7', PREVENT_USER_EXISTENCE_ERRORS: 'false' },
  { ...production, SECRET_KEY: `${secret},${secret}`, MEDIA_DIR: '/nowhere/media', SESSION_IDLE_MINUTE: '10' },
  { ...production, SECRET_KEY: `${secret},${'abc'.repeat(20)}`, REDIS_URL: 'redis://r', REMEMBER_ME_DAYS: '20' },
  { ...production, SECRET_KEY: 'write-the-output-of-openssl-rand-base64-48-here', DATABASE_URL: 'postgres://d' },
  { ...production, ...twilio, SMS_COUNTRIES: 'DE,AT' },
  { ...production, ...twilio },
  { NODE_ENV: 'development', ...twilio },
  { NODE_ENV: 'production', PORT: 'x', COOKIE_DOMAIN: 'co.uk', DATABASE_URL: 'mysql://d', TWILIO_AUTH_TOKEN: 'token' },
];

const unreadRedis = { policy: undefined, save: undefined, role: undefined, cluster: undefined, version: undefined };

const key = (alg: 'ES256' | 'RS256', state: 'next' | 'active' | 'retired', days: number) => ({
  kid: `${alg}-${state}`,
  alg,
  state,
  createdAt: nowMs - days * dayMs,
  activatesAt: nowMs - days * dayMs,
  expiresAt: state === 'retired' ? nowMs + dayMs : null,
});
const keys: KeyFacts = {
  keys: [key('ES256', 'active', 1), key('RS256', 'active', 200)],
  opens: { all: true, newest: true },
  nowMs,
};
const rotation = [key('ES256', 'next', -1), key('RS256', 'next', -2), key('ES256', 'retired', 90)];
const now = ['ES256-active', 'RS256-active'];

const client = (id: string, change: Partial<ClientRequest> = {}) =>
  clientMetadata({ id, name: id, redirectUris: [`https://${id}.example.com/cb`], ...change }, { development: false });
const offer = { plans: ['1', '2'], entitlements: ['showcase'] };
const gone = client('gone', { requiredPlans: ['gold'], requiredEntitlements: ['wings'] });
const partly = client('partly', { requiredPlans: ['1', 'silver'] });
const met = client('met', { requiredPlans: ['2'] });
const older = client('older', { legacy: true });
const withoutPkce = client('goth', { pkceOptional: true });
const withoutNonce = client('suite', { pkceOptional: true, nonceOptional: true });
const oldest = client('oldest', { redirectUris: ['https://a.example.com/cb/'], legacyIdTokenRedirect: true });
const scopes = ['openid', 'account:security', 'account:payments'];
const sensitive = [
  { ...client('safe'), scope: scopes.join(' ') },
  { ...client('phone', { native: true, redirectUris: ['com.example:/cb'] }), scope: 'openid account:security' },
];

export const factCases: Cases = {
  ...many<[NodeJS.ProcessEnv]>(
    'configuration',
    environments.map((env) => [env]),
    (env) => checkConfiguration(setupOf(env)),
  ),
  ...vary(
    'machine',
    goodMachine,
    [
      { nodeVersion: '22.9.0' },
      { threads: undefined, workers: 9, openFiles: 1024, root: true },
      { threads: 2, openFiles: undefined },
      { production: false, threads: 1, root: true, openFiles: 256 },
    ],
    judgeMachine,
  ),
  ...vary(
    'folder',
    goodFolder,
    [
      { used: false, fault: unwritable },
      { mode: undefined },
      { fault: unwritable },
      { mode: undefined, fault: unwritable },
      { fileSystem: 0x6969, freeBytes: 999e6, mode: 0o40755 },
      { fileSystem: 0x65735546, freeBytes: 99e6, mode: 0o40755, files: readable },
      { fileSystem: 0x01021994, mode: 0o40702, owner: 7 },
      { fileSystem: 0x01021994, production: false, files: readable },
    ],
    judgeFolder,
  ),
  ...many(
    'answer',
    [
      ['database', 'PostgreSQL', 19.94],
      ['key-value', 'Redis', 20],
      ['database', 'foyer.db', 200],
    ],
    judgeAnswer,
  ),
  ...vary(
    'postgres',
    goodPostgres,
    [{ version: 130_012, maxConnections: 94, standby: true, encoding: 'SQL_ASCII' }],
    judgePostgres,
  ),
  ...vary<TableFacts>(
    'tables',
    { pending: [], unknown: [], incompatible: [], empty: false, stamped: false, production: true },
    [
      { empty: true, pending: ['0001-first'] },
      { pending: ['0002-leases', '0003-more'], unknown: ['9999-later'], stamped: true },
      { unknown: ['9999-later'], stamped: true, production: false },
      { unknown: ['9998-later', '9999-later'], incompatible: ['9999-later'] },
    ],
    judgeTables,
  ),
  ...many(
    'passwords',
    [[{ weak: 0, older: 0, lost: 0 }], [{ weak: 1, older: 2, lost: 3 }], [{ weak: 2, older: 1, lost: 1 }]],
    judgePasswords,
  ),
  ...many(
    'sqlite',
    [
      ['database', 'foyer.db', { sizeBytes: 4096, journalMode: 'wal', damage: 'ok' }],
      ['database', 'foyer.db', { sizeBytes: 3e9, journalMode: 'delete', damage: undefined }],
      ['database', 'foyer.db', { sizeBytes: 4096, journalMode: 'wal', damage: 'page 3 is odd' }],
      ['key-value', 'short-lived.db', { sizeBytes: 4096, journalMode: 'wal', damage: 'page 3 is odd' }],
    ],
    judgeSqlite,
  ),
  ...vary(
    'redis',
    goodRedis,
    [
      { version: '6.0.16', cluster: true, policy: 'allkeys-lru', lastWritesOk: false, appendOnly: false },
      { role: 'slave', policy: 'volatile-ttl', maxMemory: 100e6, usedMemory: 81e6, appendOnly: false, save: '3600 1' },
      { ...unreadRedis, forbidden: ['INFO', 'CONFIG GET'], appendOnly: undefined, refusedWrite: 'NOPERM' },
    ],
    judgeRedis,
  ),
  ...many(
    'visitors',
    [
      [1, 100e6],
      [50e6, 100e6],
      [100e6, 100e6],
      [125e6, 100e6],
    ],
    judgeVisitorData,
  ),
  ...many(
    'clock',
    [
      [{ source: 'Redis', beforeMs: nowMs, theirsMs: nowMs + 1_999, afterMs: nowMs }],
      [{ source: 'PostgreSQL', beforeMs: nowMs, theirsMs: nowMs + 2_000, afterMs: nowMs }],
      [{ source: 'PUBLIC_URL', beforeMs: nowMs, theirsMs: nowMs - 41_000, afterMs: nowMs, grainMs: 1_000 }],
    ],
    judgeClock,
  ),
  ...vary(
    'keys',
    keys,
    [
      { keys: [] },
      { keys: [key('RS256', 'active', 181)], opens: { all: false, newest: false } },
      { keys: [...keys.keys, ...rotation], opens: { all: true, newest: false } },
      { keys: [key('ES256', 'active', -1)], opens: undefined },
    ],
    judgeKeys,
  ),
  ...many(
    'published',
    [[[now, now]], [[now, [...now, 'new']]], [[now, ['ES256-active']]], [[now, ['theirs']]]],
    (kids) => judgePublished(kids, keys.keys),
  ),
  ...many(
    'requirements',
    [[[]], [[client('open')]], [[met]], [[gone, partly, met]], [[gone, met]], [[partly]]],
    (clients) => judgeClients(clients, offer),
  ),
  ...many('sensitive', [[[client('open')]], [sensitive], [sensitive.slice(0, 1)]], judgeSensitive),
  ...many('legacy', [[[client('new')]], [[older]], [[older, oldest]]], judgeLegacy),
  ...many('pkce', [[[client('new')]], [[withoutPkce]], [[withoutPkce, withoutNonce]]], judgePkce),
};
