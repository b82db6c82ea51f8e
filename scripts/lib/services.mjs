/** The parts that the tests need besides Node: finds them, installs them on Debian, and starts Redis and PostgreSQL. */
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, startPostgres, startRedis } from '../../test/support/services.ts';
import { debianPackages, findMissingPackages } from './foreign.mjs';
import { Failure, root } from './processes.mjs';

/** @typedef {'redis' | 'postgres' | 'browser' | 'stripe-reference' | 'foreign'} Part */
/**
 * @typedef {object} Description
 * @property {string} title
 * @property {string} needs its programs or files
 * @property {string[]} [debian] packages of which one serves, the best first
 * @property {string[]} [allOf] Debian's packages that it needs all
 * @property {string} [brew]
 * @property {() => string | undefined} find
 */

const chromiumNames = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];

function findChromium() {
  const chosen = process.env.CHROMIUM_PATH;
  if (!chosen) return chromiumNames.map(findProgram).find(Boolean);
  if (existsSync(chosen)) return chosen;
  throw new Failure(`CHROMIUM_PATH is "${chosen}", and that does not exist`);
}

function findStripeReference() {
  const folder = process.env.STRIPE_REFERENCE_DIR || join(root, '../shared/stripe');
  return ['spec3.trimmed.json', 'fixtures3.json'].every((name) => existsSync(join(folder, name))) ? folder : undefined;
}

/** @type {Record<Part, Description>} */
export const parts = {
  redis: {
    title: 'Redis',
    needs: 'redis-server',
    debian: ['redis-server'],
    brew: 'redis',
    find: () => findProgram('redis-server'),
  },
  postgres: {
    title: 'PostgreSQL',
    needs: 'initdb and postgres',
    debian: ['postgresql'],
    brew: 'postgresql',
    find: () => findProgram('initdb') && findProgram('postgres'),
  },
  browser: {
    title: 'Chromium',
    needs: 'chromium or google-chrome on the PATH, or its path in CHROMIUM_PATH',
    // The headless shell is Chromium without its windows, and needs a third less of the processor.
    debian: ['chromium-headless-shell', 'chromium'],
    brew: 'chromium',
    find: findChromium,
  },
  // Its files may not be redistributed, so they are no part of the repository.
  'stripe-reference': {
    title: 'Stripe’s description and fixtures',
    needs: 'spec3.trimmed.json and fixtures3.json in STRIPE_REFERENCE_DIR, or in ../shared/stripe beside this folder',
    find: findStripeReference,
  },
  // Only the complete run has them: `demandParts` in scripts/test.mjs.
  foreign: {
    title: 'Foreign client apps',
    needs: 'client libraries of Debian, beside those that npm ci installs for test/foreign',
    allOf: debianPackages,
    find: () => (findMissingPackages().length === 0 ? 'installed' : undefined),
  },
};
const names = /** @type {Part[]} */ (Object.keys(parts));

/**
 * @param {string | undefined} value of FOYER_TEST_WITHOUT: the parts to leave out, separated by commas
 * @returns {Part[]}
 */
export function parseWithout(value = '') {
  const words = value.split(',').map((word) => word.trim());
  const unknown = words.find((word) => word !== '' && !Object.hasOwn(parts, word));
  if (unknown === undefined) return names.filter((name) => words.includes(name));
  throw new Failure(`FOYER_TEST_WITHOUT does not know "${unknown}". Write a comma list of: ${names.join(', ')}`);
}

/** Names the missing parts and how to install them. @param {Part[]} missing */
export function missingText(missing) {
  const debian = missing.flatMap((name) => parts[name].allOf ?? parts[name].debian?.at(-1) ?? []).join(' ');
  const brew = missing.flatMap((name) => parts[name].brew ?? []).join(' ');
  const installing = [
    'Install it:',
    `  Debian, Ubuntu:  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${debian}`,
    ...(brew === '' ? [] : [`  macOS:           brew install ${brew}`]),
  ];
  return [
    'The tests need what is not on this machine:',
    ...missing.map((name) => `  ${parts[name].title} (${parts[name].needs})`),
    ...(debian === '' ? ['Put it there'] : installing),
    'or leave it out on purpose (the summary will say so):',
    `  FOYER_TEST_WITHOUT=${missing.join(',')} npm ${missing.includes('foreign') ? 'run test:all' : 'test'}`,
  ].join('\n');
}

/** @param {string[]} args of apt-get */
function aptGet(args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // Another package manager may be running on a machine that has just started.
  const { status } = spawnSync('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=120', ...args], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Failure(`apt-get ${args.join(' ')} failed`);
}

/** Installs Debian packages without starting their services. @param {Part[]} missing */
function installPackages(missing) {
  const wanted = missing.flatMap((name) => {
    const { debian, allOf = [] } = parts[name];
    return [...(debian ? [debian] : []), ...allOf.map((one) => [one])];
  });
  console.error(`foyer: installing ${wanted.map((choice) => choice.at(-1)).join(', ')} (apt-get) ...`);
  // Debian's policy hook against starting services (invoke-rc.d(8)): exit code 101 forbids it.
  const policy = '/usr/sbin/policy-rc.d';
  const isOurs = !existsSync(policy);
  if (isOurs) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    aptGet(['update']);
    const isKnown = (/** @type {string} */ name) =>
      spawnSync('apt-cache', ['show', '--no-all-versions', name], { stdio: 'ignore' }).status === 0;
    const packages = wanted.flatMap((choice) => choice.find(isKnown) ?? choice.slice(-1));
    aptGet(['install', '-y', '--no-install-recommends', ...packages]);
  } finally {
    if (isOurs) rmSync(policy, { force: true });
  }
}

/**
 * Finds the parts, and installs those that are missing where this command may: as root on Debian and its derivatives.
 * @param {Part[]} without those to leave out
 * @throws {Failure} that names those that are missing
 */
export function demandParts(without) {
  const findMissing = () => names.filter((name) => !without.includes(name) && parts[name].find() === undefined);
  let missing = findMissing();
  const mayInstall = process.getuid?.() === 0 && existsSync('/etc/debian_version') && findProgram('apt-get');
  if (mayInstall && missing.some((name) => parts[name].debian ?? parts[name].allOf)) {
    installPackages(missing);
    missing = findMissing();
  }
  if (missing.length > 0) throw new Failure(missingText(missing));
}

/**
 * Starts a Redis and a PostgreSQL for the run, each in a session of its own, as `run` explains.
 * @param {Part[]} without
 */
export async function startServices(without) {
  const uses = (/** @type {Part} */ name) => !without.includes(name);
  const alone = { detached: true };
  const [redis, postgres] = await Promise.all([
    uses('redis') ? startRedis([], alone) : undefined,
    uses('postgres') ? startPostgres(alone) : undefined,
  ]);
  const variables = {
    TEST_REDIS_URL: redis?.url,
    TEST_DATABASE_URL: postgres?.url,
    CHROMIUM_PATH: uses('browser') ? parts.browser.find() : undefined,
    STRIPE_REFERENCE_DIR: uses('stripe-reference') ? parts['stripe-reference'].find() : undefined,
  };
  return { variables, stop: () => Promise.all([redis?.stop(), postgres?.stop()]) };
}
