/** The summary at the end of `npm test`. */

/**
 * @typedef {{ name: string, ms: number, error?: unknown }} Step
 * @typedef {{ numPassedTests: number, numFailedTests: number, numPendingTests: number, numTodoTests: number,
 * testResults: { status: string, assertionResults: { status: string }[] }[] }} TestResult the used part of Jest's JSON
 */

/** @param {number} ms */
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

/**
 * Adds everything up. Each reason of a failed run is counted, so that "0 failed" and exit code 0 always agree.
 * @param {Step[]} steps
 * @param {TestResult | undefined} result nothing if Jest wrote none
 * @param {number} exitCode of Jest
 */
export function judge(steps, result, exitCode) {
  const passed = result?.numPassedTests ?? 0;
  // A file without a failed test has not loaded, or its services did not start.
  const isBroken = (/** @type {TestResult['testResults'][number]} */ { status, assertionResults }) =>
    status === 'failed' && !assertionResults.some((test) => test.status === 'failed');
  const broken = (result?.testResults ?? []).filter(isBroken).length;
  const failedTests = (result?.numFailedTests ?? 0) + broken;
  const failedSteps = steps.filter(({ error }) => error !== undefined);
  const skipped = (result?.numPendingTests ?? 0) + (result?.numTodoTests ?? 0);
  const notes = [
    ...failedSteps.map(({ name }) => `failed check: ${name}`),
    ...(broken > 0 ? [`test files that could not run: ${broken}`] : []),
    ...(skipped > 0 ? [`skipped tests: ${skipped}`] : []),
  ];
  const isUnexplained = failedTests === 0 && (exitCode !== 0 || passed === 0);
  if (isUnexplained) notes.push(`the tests ended with exit code ${exitCode}; ${passed} passed, none failed`);
  return { passed, failed: failedTests + failedSteps.length + (isUnexplained ? 1 : 0), notes };
}

/**
 * @param {Step[]} steps
 * @param {string[]} leftOut the titles of the parts that the run left out
 * @param {ReturnType<typeof judge>} verdict
 * @returns {string[]} lines; the last one has only the two numbers
 */
export function summaryLines(steps, leftOut, { passed, failed, notes }) {
  return [
    '',
    ...steps.map(({ name, ms, error }) => `  ${error === undefined ? 'ok    ' : 'FAILED'}  ${name}  ${seconds(ms)}`),
    ...leftOut.map((title) => `  LEFT OUT by FOYER_TEST_WITHOUT: ${title}`),
    ...notes.map((note) => `  ${note}`),
    `${passed} passed, ${failed} failed`,
  ];
}
