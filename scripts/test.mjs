/**
 * `npm test` and `npm run test:all` (`-- jest arguments`): installs the requirements of the tests, then lint,
 * types, build, tests and a summary whose last line is `N passed, N failed`. The first argument selects the tests
 * (lib/test-selection.mjs). FOYER_TEST_WITHOUT=redis,postgres,browser,stripe-reference omits parts.
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checks, showFailures } from './lib/checks.mjs';
import { installPackages, mayInstall } from './lib/debian.mjs';
import { install } from './lib/install.mjs';
import { jestArguments } from './lib/jest.mjs';
import { findParts, missingParts, missingText, PARTS, parseWithout } from './lib/parts.mjs';
import { node24, root, toolEnv } from './lib/paths.mjs';
import { checkStopping, command, onExit, start } from './lib/processes.mjs';
import { alone } from './lib/ready.mjs';
import { createSay, Failure } from './lib/say.mjs';
import { startPostgres, startRedis } from './lib/services.mjs';
import { judge, summaryLines } from './lib/summary.mjs';
import { readSpeed } from './lib/test-speed.mjs';

const say = createSay();

/** @param {import('./lib/parts.mjs').PartName[]} without */
async function needParts(without) {
  let found = findParts();
  let missing = missingParts(without, found);
  const packages = missing.flatMap((name) => {
    const { debian, lighter } = PARTS[name];
    return debian === undefined ? [] : { debian, lighter };
  });
  if (packages.length > 0 && mayInstall()) {
    await installPackages(packages, say);
    found = findParts();
    missing = missingParts(without, found);
  }
  if (missing.length > 0) throw new Failure(missingText(missing));
  for (const name of without) delete found[name];
  return found;
}

/** A folder for all files of the run. A database's own user must be able to enter it. */
function temporaryFolder() {
  const dir = mkdtempSync(join(tmpdir(), 'foyer-test-'));
  onExit(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));
  mkdirSync(join(dir, 'tmp'));
  for (const path of [dir, join(dir, 'tmp')]) chmodSync(path, 0o711);
  return dir;
}

/**
 * @param {import('./lib/parts.mjs').Found} found
 * @param {string} dir
 * @returns {Promise<Record<string, string>>} the variables with their addresses for the tests
 */
async function startServices(found, dir) {
  const [redis, postgres] = await Promise.all([
    found.redis ? startRedis(found.redis, dir) : undefined,
    found.postgres ? startPostgres(found.postgres, dir) : undefined,
  ]);
  return {
    ...(redis && { TEST_REDIS_URL: redis }),
    ...(postgres && { TEST_DATABASE_URL: postgres }),
    ...(found.browser && { CHROMIUM_PATH: found.browser }),
    ...(found['stripe-reference'] && { STRIPE_REFERENCE_DIR: found['stripe-reference'] }),
  };
}

/** @param {string} path */
function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * @param {string[]} args
 * @param {string} dir
 * @param {Record<string, string>} variables
 */
async function runTests(args, dir, variables) {
  const resultPath = join(dir, 'result.json');
  const env = toolEnv({
    ...variables,
    // Files that tests and browsers leave are deleted with the run's own folder.
    TMPDIR: join(dir, 'tmp'),
    // Tests start many processes of the same code.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(root, 'node_modules', '.cache', 'compiled'),
  });
  const own = ['--json', `--outputFile=${resultPath}`];
  const tests = start(node24, jestArguments([...own, ...args]), { cwd: root, env, stdio: 'inherit' });
  const { code } = await tests.ended;
  checkStopping();
  return { exitCode: code ?? 1, result: readJson(resultPath) };
}

/**
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} act
 */
async function timed(name, act) {
  const beganMs = performance.now();
  const value = await act();
  return { value, step: { name, ms: performance.now() - beganMs } };
}

await command(async () => {
  const [word, ...args] = process.argv.slice(2);
  const speed = readSpeed({ FOYER_TEST: word });
  const without = parseWithout(process.env.FOYER_TEST_WITHOUT);
  const installed = await timed('install', () => alone(say, () => install(say)));
  const parts = await timed('find Redis, PostgreSQL, Chromium', () => needParts(without));
  const dir = temporaryFolder();
  const [services, checked] = await Promise.all([
    timed('start services', () => startServices(parts.value, dir)),
    say.step('Lint, types, build; starting services', () => alone(say, checks)),
  ]);
  showFailures(checked);
  say.line(`Running the tests (${speed})`);
  const tests = await timed('tests', () => runTests(args, dir, { ...services.value, FOYER_TEST: speed }));
  const { exitCode, result } = tests.value;
  const verdict = judge(checked, result, exitCode);
  const tested = { ...tests.step, error: exitCode === 0 ? undefined : new Failure('see above') };
  const steps = [installed.step, parts.step, services.step, ...checked, tested];
  process.stdout.write(`${summaryLines(steps, without, verdict, result).join('\n')}\n`);
  return verdict.failed === 0 ? 0 : 1;
});
