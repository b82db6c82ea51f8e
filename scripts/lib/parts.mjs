/** The programs that the tests need besides Node: their places, their names, and how to omit them. */
import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { root } from './paths.mjs';
import { Failure } from './say.mjs';

/** @typedef {'redis' | 'postgres' | 'browser' | 'stripe-reference'} PartName */
/**
 * @typedef {{ redis?: string, postgres?: string, browser?: string, 'stripe-reference'?: string }} Found
 *   postgres: the folder of its programs; stripe-reference: the folder
 */

const POSTGRES_OLDEST = 13;

/**
 * `lighter` is a smaller Debian package for the same purpose: the headless shell is Chromium without its windows, and
 * needs a third less of the processor. For programs without a package, `programs` names the places.
 * @type {Record<PartName, { title: string, programs: string, debian?: string, lighter?: string, brew?: string }>}
 */
export const PARTS = {
  redis: { title: 'Redis', programs: 'redis-server', debian: 'redis-server', brew: 'redis' },
  postgres: {
    title: 'PostgreSQL',
    programs: `initdb and postgres, version ${POSTGRES_OLDEST} or newer`,
    debian: 'postgresql',
    brew: 'postgresql',
  },
  browser: {
    title: 'Chromium',
    programs: 'chromium or google-chrome on the PATH, or its path in CHROMIUM_PATH',
    debian: 'chromium',
    lighter: 'chromium-headless-shell',
    brew: 'chromium',
  },
  'stripe-reference': {
    title: 'Stripe’s description and fixtures',
    programs:
      'spec3.trimmed.json and fixtures3.json in STRIPE_REFERENCE_DIR, or in ../shared/stripe beside this folder',
  },
};

const PART_NAMES = /** @type {PartName[]} */ (Object.keys(PARTS));

/**
 * Reads FOYER_TEST_WITHOUT: a comma-separated list of the parts to omit.
 * @param {string | undefined} value
 * @returns {PartName[]}
 * @throws {Failure} for an unknown part
 */
export function parseWithout(value) {
  const words = (value ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  const unknown = words.filter((word) => !PART_NAMES.includes(/** @type {PartName} */ (word)));
  if (unknown.length > 0) {
    throw new Failure(
      `FOYER_TEST_WITHOUT does not know ${unknown.map((word) => `"${word}"`).join(', ')}. ` +
        `Write a comma list of: ${PART_NAMES.join(', ')}`,
    );
  }
  return PART_NAMES.filter((name) => words.includes(name));
}

/**
 * @param {PartName[]} without
 * @param {Found} found
 * @returns {PartName[]} the required parts that are missing
 */
export const missingParts = (without, found) => PART_NAMES.filter((name) => !without.includes(name) && !found[name]);

/**
 * Names the missing parts and how to install them.
 * @param {PartName[]} missing
 */
export function missingText(missing) {
  const packages = (/** @type {'debian' | 'brew'} */ kind) =>
    missing.flatMap((name) => PARTS[name][kind] ?? []).join(' ');
  const installing = [
    'Install it:',
    `  Debian, Ubuntu:  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${packages('debian')}`,
    `  macOS:           brew install ${packages('brew')}`,
  ];
  return [
    'The tests need what is not on this machine:',
    ...missing.map((name) => `  ${PARTS[name].title} (${PARTS[name].programs})`),
    ...(packages('debian') === '' ? ['Put it there'] : installing),
    'or leave it out on purpose (the summary will say so):',
    `  FOYER_TEST_WITHOUT=${missing.join(',')} npm test`,
  ].join('\n');
}

/** @param {string | undefined} path */
function isProgram(path) {
  if (!path) return false;
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * @param {string[]} names
 * @param {NodeJS.ProcessEnv} env
 */
function onPath(names, env) {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
}

/**
 * The major version in the output of `postgres --version`; 0 if there is none.
 * @param {string} text such as "postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)"
 */
export const postgresMajor = (text) => Number(/PostgreSQL\)?\s+(\d+)/.exec(text)?.[1] ?? 0);

/**
 * The folder of the newest usable PostgreSQL. Debian keeps them off the PATH, one folder for each version.
 * @param {NodeJS.ProcessEnv} env
 * @param {string} debianRoot
 */
function findPostgres(env, debianRoot) {
  const versions = existsSync(debianRoot) ? readdirSync(debianRoot).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(debianRoot, version, 'bin')),
    ...(env.PATH ?? '').split(delimiter).filter((folder) => folder !== ''),
  ];
  return folders.find((folder) => {
    if (!['initdb', 'postgres'].every((name) => isProgram(join(folder, name)))) return false;
    try {
      const text = execFileSync(join(folder, 'postgres'), ['--version'], { encoding: 'utf8' });
      return postgresMajor(text) >= POSTGRES_OLDEST;
    } catch {
      return false;
    }
  });
}

/**
 * Stripe's description and fixtures may not be redistributed, so they are outside of the repository.
 * @param {NodeJS.ProcessEnv} env
 */
function findStripeReference(env) {
  const folder = env.STRIPE_REFERENCE_DIR || join(root, '..', 'shared', 'stripe');
  const complete = ['spec3.trimmed.json', 'fixtures3.json'].every((name) => existsSync(join(folder, name)));
  return complete ? folder : undefined;
}

/**
 * @param {NodeJS.ProcessEnv} [env]
 * @param {string} [debianRoot] Debian's folder of PostgreSQL
 * @returns {Found}
 * @throws {Failure} if CHROMIUM_PATH is set and is not a program
 */
export function findParts(env = process.env, debianRoot = '/usr/lib/postgresql') {
  const browsers = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const chosen = env.CHROMIUM_PATH;
  if (chosen && !isProgram(chosen)) throw new Failure(`CHROMIUM_PATH is "${chosen}", and that is not a program`);
  return {
    redis: onPath(['redis-server'], env),
    postgres: findPostgres(env, debianRoot),
    browser: chosen || onPath(browsers, env),
    'stripe-reference': findStripeReference(env),
  };
}
