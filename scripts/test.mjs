/**
 * `npm test` and `npm run test:all` (`-- Jest's arguments`): lint, types, build, tests, and a summary whose last line is
 * `N passed, N failed`. The first argument is FOYER_TEST, which selects the tests (lib/test-selection.mjs);
 * FOYER_TEST_WITHOUT=redis,postgres,browser,stripe-reference,foreign leaves parts out.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from './build.mjs';
import { installForeign } from './lib/foreign.mjs';
import { command, Failure, nodeSettings, root, run, runTool } from './lib/processes.mjs';
import { demandParts, parseWithout, parts, startServices } from './lib/services.mjs';
import { findUnreached, listStripeCalls, readRequests } from './lib/stripe-calls.mjs';
import { judge, summaryLines } from './lib/summary.mjs';

/** A folder for all files of the run. The user of PostgreSQL must be able to enter it. */
function temporaryFolder() {
  const dir = mkdtempSync(join(tmpdir(), 'foyer-test-'));
  process.on('exit', () => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));
  mkdirSync(join(dir, 'tmp'));
  for (const path of [dir, join(dir, 'tmp')]) chmodSync(path, 0o711);
  return dir;
}

/** @type {import('./lib/summary.mjs').Step[]} */
const steps = [];

/**
 * A failure is shown at once and counted at the end: the other steps continue.
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} act
 */
async function step(name, act) {
  const beganMs = performance.now();
  const outcome = await act().then(
    (value) => ({ value }),
    (/** @type {unknown} */ error) => ({ error }),
  );
  if ('error' in outcome) console.error(outcome.error instanceof Failure ? outcome.error.message : outcome.error);
  steps.push({ name, ms: performance.now() - beganMs, ...('error' in outcome && { error: outcome.error }) });
  return 'value' in outcome ? outcome.value : undefined;
}

/** @type {{ scripts: Record<'lint' | 'types', string> }} */
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Not at once: the linter uses every core. */
async function checks() {
  await step('lint', () => runTool('sh', ['-c', scripts.lint]));
  await Promise.all([step('build', build), step('types', () => runTool('sh', ['-c', scripts.types]))]);
}

/** @param {string} requestsDir @throws {Failure} that names the calls of the product that no test has reached */
async function expectAllReached(requestsDir) {
  const unreached = findUnreached(listStripeCalls(), readRequests(requestsDir));
  if (unreached.length === 0) return;
  const lines = unreached.map(({ name, request }) => `  ${name} (${request})`);
  throw new Failure(`No test reaches these calls of the product to Stripe:\n${lines.join('\n')}`);
}

await command(async () => {
  const [speed, ...args] = process.argv.slice(2);
  const without = parseWithout(process.env.FOYER_TEST_WITHOUT);
  // Arguments name a part of the tests.
  const hasForeign = speed === 'all' && (args.length === 0 || args.some((text) => text.includes('foreign')));
  demandParts(hasForeign ? without : [...without, 'foreign']);
  const dir = temporaryFolder();
  // Files that services, tests and browsers leave are deleted with the folder.
  process.env.TMPDIR = join(dir, 'tmp');
  const [services] = await Promise.all([step('start services', () => startServices(without)), checks()]);
  if (!services) throw new Failure('the services did not start');
  if (hasForeign && !without.includes('foreign')) await step('packages of foreign clients', installForeign);

  const resultPath = join(dir, 'result.json');
  const requestsDir = join(dir, 'stripe-requests');
  mkdirSync(requestsDir);
  const env = {
    ...services.variables,
    FOYER_TEST: speed,
    STRIPE_REQUESTS_DIR: requestsDir,
    // Tests start many processes of the same code.
    NODE_COMPILE_CACHE: nodeSettings().NODE_COMPILE_CACHE,
  };
  // Most memory of a test is garbage after it: a larger young generation is collected less often, and copied less.
  const jest = ['--max-semi-space-size=64', 'node_modules/jest/bin/jest.js', '--json', `--outputFile=${resultPath}`];
  const beganMs = performance.now();
  const exitCode = await run(process.execPath, [...jest, ...args], { env });
  const tests = { name: `tests (${speed})`, ms: performance.now() - beganMs };
  await services.stop();
  // A part of the tests does not reach every call.
  if (speed === 'all' && args.length === 0 && without.length === 0)
    await step('calls to Stripe', () => expectAllReached(requestsDir));

  const result = existsSync(resultPath) ? JSON.parse(readFileSync(resultPath, 'utf8')) : undefined;
  const verdict = judge(steps, result, exitCode);
  const leftOut = without.map((part) => parts[part].title);
  console.log(summaryLines([...steps, tests], leftOut, verdict).join('\n'));
  return verdict.failed === 0 ? 0 : 1;
});
