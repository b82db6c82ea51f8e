/**
 * Which test files a run has, and on which stores they run. FOYER_TEST says it:
 *
 * - `all` (also when it is not set): every file, on both pairs of stores;
 * - `fast`: every file but the thorough ones, on SQLite with the embedded store; the contracts of the stores on both pairs;
 * - `rest`: what `fast` leaves out.
 */
import { globSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { root } from './paths.mjs';
import { Failure } from './say.mjs';

/** @typedef {'fast' | 'rest' | 'all'} Speed */

/** Journeys in a browser that `npm test` has: one of each flow, with and without JavaScript. All others are thorough. */
const flows = [
  'contact',
  'demo-journey',
  'federation-first',
  'forgot-password',
  'leaving',
  'mfa-settings',
  'passkeys',
  'purchase',
  'second-factor',
  'settings',
  'sign-in',
  'sign-up',
  'ways-out',
];

/** Many runs of one thing, processes that are killed, and figures: they take most of the time of all tests. */
const thorough = [
  /^test\/(examples|faults|fuzz|journeys|load)\//,
  /-processes\.contract\.test\.ts$/,
  /^test\/views\/(crawler|pages)\.test\.ts$/,
  /^test\/membership\/(act-sweep|act-random|money|reading)\.test\.ts$/,
];

/** The stores decide what these prove. */
const contract = /\.contract\.test\.ts$/;

/** A file that runs on each pair of stores names one of these. */
const usesBackends = /\b(?:backends|secondBackends|strictest)\b/;

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {Speed}
 * @throws {Failure} for another word
 */
export function speedOf(env) {
  const speed = env.FOYER_TEST || 'all';
  if (speed === 'fast' || speed === 'rest' || speed === 'all') return speed;
  throw new Failure(`FOYER_TEST is "${speed}". Write fast, rest or all`);
}

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
 * @returns {{ first: boolean, second: boolean }} both false: the run leaves the file out
 */
export function selectBackends(file, env) {
  const path = relative(root, file).split(sep).join('/');
  const speed = speedOf(env);
  if (speed === 'all') return { first: true, second: true };
  if (isThorough(path)) return speed === 'rest' ? { first: true, second: true } : { first: false, second: false };
  if (speed === 'fast') return { first: true, second: contract.test(path) };
  return { first: false, second: !contract.test(path) && usesBackends.test(readFileSync(file, 'utf8')) };
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {string[]} regular expressions of the paths that the run leaves out, for Jest's `testPathIgnorePatterns`
 */
export function excludedFiles(env) {
  const without = (env.FOYER_TEST_WITHOUT ?? '').split(',').map((name) => name.trim());
  const browsers = without.includes('browser') ? ['\\.browser\\.test\\.tsx?$'] : [];
  const files = speedOf(env) === 'all' ? [] : globSync('test/**/*.test.{ts,tsx}', { cwd: root });
  const excluded = files.filter((path) => {
    const { first, second } = selectBackends(join(root, path), env);
    return !first && !second;
  });
  return [...browsers, ...excluded.map((path) => `[/\\\\]${path.replaceAll('.', '\\.')}$`)];
}
