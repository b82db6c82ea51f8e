/** What `npm test` says at the end. */
import { PARTS } from './parts.mjs';
import { seconds } from './say.mjs';

/**
 * @typedef {{ numPassedTests: number, numFailedTests: number, numRuntimeErrorTestSuites: number,
 *   numPendingTests: number, numTodoTests: number }} JestResult the part of Jest's --json that counts here
 * @typedef {{ passed: number, failed: number, notes: string[] }} Verdict
 */

/**
 * Adds everything up. Whatever makes the run a failure is counted, so that "0 failed" and exit code 0 always agree.
 * @param {import('./build.mjs').Step[]} steps
 * @param {JestResult | undefined} jest nothing if Jest wrote no result
 * @param {number} jestExitCode
 * @returns {Verdict}
 */
export function judge(steps, jest, jestExitCode) {
  const notes = steps.filter(({ error }) => error).map(({ name }) => `failed check: ${name}`);
  const passed = jest?.numPassedTests ?? 0;
  const broken = jest?.numRuntimeErrorTestSuites ?? 0;
  const failedTests = (jest?.numFailedTests ?? 0) + broken;
  if (broken > 0) notes.push(`test files that could not run: ${broken}`);
  const skipped = (jest?.numPendingTests ?? 0) + (jest?.numTodoTests ?? 0);
  if (skipped > 0) notes.push(`skipped tests: ${skipped}`);
  let failed = failedTests + steps.filter(({ error }) => error).length;
  if (!jest) {
    failed += 1;
    notes.push(`Jest ended without a result (exit code ${jestExitCode})`);
  } else if (passed + failedTests === 0) {
    failed += 1;
    notes.push('no test ran');
  } else if (jestExitCode !== 0 && failedTests === 0) {
    failed += 1;
    notes.push(`Jest ended with exit code ${jestExitCode} although no test failed`);
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
