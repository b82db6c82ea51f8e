/**
 * Which test files a run has, and on which stores they run. FOYER_TEST says it:
 *
 * - `all` (also when it is not set): every file, and those that the stores decide on both pairs of stores;
 * - `fast`: every file but the thorough ones, on SQLite with the embedded store; the contracts of the stores on both pairs.
 *   test/support/thorough.ts leaves single tests to `all`.
 */
import { globSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { Failure, root } from './processes.mjs';

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {'fast' | 'all'}
 * @throws {Failure} for another word
 */
export function readSpeed(env) {
  const speed = env.FOYER_TEST || 'all';
  if (speed === 'fast' || speed === 'all') return speed;
  throw new Failure(`FOYER_TEST is "${speed}". Write fast or all`);
}

/** Journeys in a browser that `npm test` has: one of each flow, with and without JavaScript. All others are thorough. */
const flows = [
  'contact',
  'deletion',
  'federation-first',
  'forgot-password',
  'mfa-settings',
  'passkeys',
  'purchase',
  'second-factor',
  'sign-in',
  'sign-up',
];

/** Attacks by very many requests, and by many values at every address. */
const floods = [
  /^test\/attacks\/(bad-forms|bad-requests|every-address)\.test\.ts$/,
  /^test\/attacks\/(member-storage|visitor-storage|session-flood|second-factor-guessing)\.test\.ts$/,
  /^test\/attacks\/(plan-\w+|limited-apps|limited-apps-flows|saml-cost|slow-connections)\.test\.ts$/,
];

/** Many runs of one thing, processes that are started or killed, and figures: they take most of the time of all tests. */
const thorough = [
  /^test\/(examples|faults|foreign|fuzz|journeys|load)\//,
  /-processes\.contract\.test\.ts$/,
  /^test\/views\/crawler\.test\.ts$/,
  /^test\/billing\/(act-sweep|act-random|money|reading|reconcile|reconcile-command)\.test\.ts$/,
  /^test\/account\/deletion\/random-acts\.test\.ts$/,
  /^test\/money\/erasure\.test\.ts$/,
  /^test\/account\/membership(-stripe-away|-unpaid)?\.test\.ts$/,
  /^test\/api\/matrix\.test\.ts$/,
  /^test\/cli\/(process|running-\w+|user-import|user-import-progress|doctor-messages)\.test\.ts$/,
  /^test\/contract\/outage\.contract\.test\.ts$/,
  /^test\/sandbox\/stripe-engine-money\.test\.ts$/,
  /^test\/scripts\/jest\.test\.ts$/,
  /^test\/federation\/saml-shapes\.test\.ts$/,
  ...floods,
];

/** The stores decide what these prove. */
const contract = /\.contract\.test\.ts$/;

/**
 * Files that `all` has on both pairs of stores: SQL that differs by dialect, races, texts that PostgreSQL refuses, records in
 * Redis, and each flow once. The others prove rules that no store changes.
 */
const onBothPairs = [
  contract,
  /^test\/(faults|journeys|money|sessions|store)\//,
  /^test\/billing\/[\w-]+\.test\./,
  /^test\/(api\/user-records|messages\/codes|account\/contact\/(email|phone)-change|metrics\/stores|mfa\/remembered|password\/forgot)\./,
  /^test\/(passkeys\/registration|rate-limits\/consume|sign-in\/(imported|reauthentication|remembered-device|second-factor)|sign-up\/confirmations)\./,
  /^test\/(browser\/demo-journey|account\/deletion\/(deletion|export|factor-reset)|federation\/(attempts|overtaken|two-tabs))\./,
  /^test\/cli\/(backup|keys|outbox|partner-deals|reset-mfa|user-delete|user-import|user-import-progress|user-update|users)\./,
  /^test\/messages\/(outbox|worker(-\w+)?)\./,
  /^test\/oidc\/(another-process|back-channel-logout(-delivery)?|code-flow|connected-apps|device-flow)\./,
  /^test\/oidc\/(key-rotation|lifetimes|plain-authorize|plain-exchange(-failures)?|plain-parity|plain-userinfo|refresh|remember-me|revocation|token-cookies|token-cookie-renewal)\./,
  /^test\/attacks\/(another-member|bad-\w+|end-others|graphql|import-\w+|linking|member-storage|passkeys)\./,
  /^test\/attacks\/(password-change-races|password-flood|redemption|reset-(codes|requests|sessions))\./,
  /^test\/attacks\/(second-factor-(bypass|challenge|codes)|session-ends|session-flood|stolen-\w+|stored-text)\./,
  /^test\/attacks\/(stores-away|visitor-storage)\./,
];

/** All patterns of this file. */
export const patterns = [...onBothPairs, ...thorough];

/** @param {string} path relative, with slashes */
function isThorough(path) {
  const [, flow] = /\/([\w-]+)\.browser\.test\.tsx?$/.exec(path) ?? [];
  if (flow !== undefined) return !(path.startsWith('test/browser/') && flows.includes(flow));
  return thorough.some((pattern) => pattern.test(path));
}

/**
 * On which pairs of stores a test file runs: the first is SQLite with the embedded store.
 * @param {string} file its path
 * @param {NodeJS.ProcessEnv} env
 * @returns {{ first: boolean, second: boolean }} both false: the run leaves the file out; `second` is for files that ask for it
 */
export function selectBackends(file, env) {
  const path = relative(root, file).split(sep).join('/');
  if (readSpeed(env) === 'all') return { first: true, second: onBothPairs.some((pattern) => pattern.test(path)) };
  if (isThorough(path)) return { first: false, second: false };
  return { first: true, second: contract.test(path) };
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {string[]} regular expressions of the paths that the run leaves out, for Jest's `testPathIgnorePatterns`
 */
export function excludedFiles(env) {
  const without = (env.FOYER_TEST_WITHOUT ?? '').split(',').map((name) => name.trim());
  const browsers = without.includes('browser') ? ['\\.browser\\.test\\.tsx?$'] : [];
  const clients = without.includes('foreign') ? ['[/\\\\]test[/\\\\]foreign[/\\\\]'] : [];
  const files = readSpeed(env) === 'all' ? [] : globSync('test/**/*.test.{ts,tsx}', { cwd: root });
  const excluded = files.filter((path) => !selectBackends(join(root, path), env).first);
  return [...browsers, ...clients, ...excluded.map((path) => `[/\\\\]${path.replaceAll('.', '\\.')}$`)];
}
