/** What `npm test` says at the end. */
import { PARTS } from './parts.mjs';
import { seconds } from './say.mjs';

/**
 * @typedef {{ numPassedTests: number, numFailedTests: number, numPendingTests: number, numTodoTests: number,
 *   testResults: { status: string, assertionResults: { status: string }[] }[] }} TestResult the part of the test runner's
 *   JSON report that counts here
 * @typedef {{ passed: number, failed: number, notes: string[] }} Verdict
 */

/**
 * How many files failed without a test that failed: they did not load, or what their tests need did not start.
 * @param {TestResult | undefined} result
 */
const brokenFiles = (result) =>
  (result?.testResults ?? []).filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  ).length;

/**
 * Adds everything up. Whatever makes the run a failure is counted, so that "0 failed" and exit code 0 always agree.
 * @param {import('./build.mjs').Step[]} steps
 * @param {TestResult | undefined} result nothing if the test runner wrote none
 * @param {number} exitCode of the test runner
 * @returns {Verdict}
 */
export function judge(steps, result, exitCode) {
  const notes = steps.filter(({ error }) => error).map(({ name }) => `failed check: ${name}`);
  const passed = result?.numPassedTests ?? 0;
  const broken = brokenFiles(result);
  const failedTests = (result?.numFailedTests ?? 0) + broken;
  if (broken > 0) notes.push(`test files that could not run: ${broken}`);
  const skipped = (result?.numPendingTests ?? 0) + (result?.numTodoTests ?? 0);
  if (skipped > 0) notes.push(`skipped tests: ${skipped}`);
  let failed = failedTests + steps.filter(({ error }) => error).length;
  if (!result) {
    failed += 1;
    notes.push(`the tests ended without a result (exit code ${exitCode})`);
  } else if (passed + failedTests === 0) {
    failed += 1;
    notes.push('no test ran');
  } else if (exitCode !== 0 && failedTests === 0) {
    failed += 1;
    notes.push(`the tests ended with exit code ${exitCode} although none failed`);
  }
  return { passed, failed, notes };
}

/**
 * @param {import('./build.mjs').Step[]} steps
 * @param {import('./parts.mjs').PartName[]} without
 * @param {Verdict} verdict
 * @returns {string[]} lines; the last one holds the two figures alone
 */
export function summaryLines(steps, without, verdict) {
  const width = Math.max(...steps.map(({ name }) => name.length));
  return [
    '',
    ...steps.map(({ name, ms, error }) => `  ${error ? 'FAILED' : 'ok    '}  ${name.padEnd(width)}  ${seconds(ms)}`),
    ...without.map((part) => `  LEFT OUT by FOYER_TEST_WITHOUT: ${PARTS[part].title}`),
    ...verdict.notes.map((note) => `  ${note}`),
    `${verdict.passed} passed, ${verdict.failed} failed`,
  ];
}
