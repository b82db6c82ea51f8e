/** The summary at the end of `npm test`. */
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { PARTS } from './parts.mjs';
import { root } from './paths.mjs';
import { seconds } from './say.mjs';

/**
 * @typedef {{ numPassedTests: number, numFailedTests: number, numPendingTests: number, numTodoTests: number,
 * testResults: FileResult[] }} TestResult the used part of the test runner's JSON report
 * @typedef {{ name: string, status: string, message?: string, assertionResults: { status: string, ancestorTitles:
 * string[], title: string, duration?: number | null, failureMessages?: string[] | null }[] }} FileResult
 * @typedef {{ passed: number, failed: number, notes: string[] }} Verdict
 */

/**
 * Tests whether a file failed without a failed test: it did not load, or its services did not start.
 * @param {FileResult} file
 */
const isBroken = ({ status, assertionResults }) =>
  status === 'failed' && !assertionResults.some((test) => test.status === 'failed');

const shownLines = 12;
const shownTests = 20;

/** @param {string} text */
const beginning = (text) =>
  stripVTControlCharacters(text)
    .split('\n')
    .slice(0, shownLines)
    .map((line) => `      ${line}`);

/**
 * The failures and their reasons, repeated at the end: a log of ten thousand tests is often cut to its last lines.
 * @param {TestResult | undefined} result
 * @returns {string[]} lines
 */
export function failureLines(result) {
  const failures = (result?.testResults ?? []).flatMap((file) => {
    const path = relative(root, file.name);
    if (isBroken(file)) return [[`  FAILED  ${path}`, ...beginning(file.message ?? '')]];
    return file.assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ ancestorTitles, title, duration, failureMessages }) => [
        `  FAILED  ${path} > ${[...ancestorTitles, title].join(' ')} (${seconds(duration ?? 0)})`,
        ...beginning(failureMessages?.[0] ?? ''),
      ]);
  });
  const more = failures.length - shownTests;
  return [...failures.slice(0, shownTests).flat(), ...(more > 0 ? [`  and ${more} more, above`] : [])];
}

/**
 * Adds everything up. Every reason of a failed run is counted, so that "0 failed" and exit code 0 always agree.
 * @param {import('./build.mjs').Step[]} steps
 * @param {TestResult | undefined} result nothing if the test runner wrote none
 * @param {number} exitCode of the test runner
 * @returns {Verdict}
 */
export function judge(steps, result, exitCode) {
  const notes = steps.filter(({ error }) => error).map(({ name }) => `failed check: ${name}`);
  const passed = result?.numPassedTests ?? 0;
  const broken = (result?.testResults ?? []).filter(isBroken).length;
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
 * @param {TestResult} [result]
 * @returns {string[]} lines; the last one has only the two numbers
 */
export function summaryLines(steps, without, verdict, result) {
  const width = Math.max(...steps.map(({ name }) => name.length));
  return [
    '',
    ...steps.map(({ name, ms, error }) => `  ${error ? 'FAILED' : 'ok    '}  ${name.padEnd(width)}  ${seconds(ms)}`),
    ...without.map((part) => `  LEFT OUT by FOYER_TEST_WITHOUT: ${PARTS[part].title}`),
    ...failureLines(result),
    ...verdict.notes.map((note) => `  ${note}`),
    `${verdict.passed} passed, ${verdict.failed} failed`,
  ];
}
