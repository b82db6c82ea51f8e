import { join } from 'node:path';
import { root } from '../../scripts/lib/paths.mjs';
import { Failure } from '../../scripts/lib/say.mjs';
import { failureLines, judge, summaryLines } from '../../scripts/lib/summary.mjs';

const ok = { name: 'lint (biome)', ms: 1_234 };
const bad = { name: 'types of test', ms: 50, error: new Failure('error TS2322') };
const test = (status: string) => ({ status, ancestorTitles: [], title: status });
const counts = (passed: number, failed = 0, broken = 0, pending = 0) => ({
  numPassedTests: passed,
  numFailedTests: failed,
  numPendingTests: pending,
  numTodoTests: 0,
  testResults: [
    { name: 'a', status: 'passed', assertionResults: [test('passed')] },
    { name: 'b', status: 'failed', assertionResults: [test('passed'), test('failed')] },
    ...Array.from({ length: broken }, () => ({ name: 'c', status: 'failed', assertionResults: [test('skipped')] })),
  ],
});

describe('the verdict', () => {
  it('A run without failures has no failed count and no notes', () => {
    expect(judge([ok], counts(12), 0)).toEqual({ passed: 12, failed: 0, notes: [] });
  });

  it('The verdict counts failed tests, test files that could not run, and failed checks', () => {
    const verdict = judge([ok, bad], counts(12, 2, 1), 1);
    expect(verdict).toMatchObject({ passed: 12, failed: 4 });
    expect(verdict.notes).toEqual(['failed check: types of test', 'test files that could not run: 1']);
  });

  it('A run without any test is a failure', () => {
    expect(judge([ok], counts(0), 0)).toMatchObject({ passed: 0, failed: 1, notes: ['no test ran'] });
    expect(judge([ok], counts(0, 0, 0, 3), 0)).toMatchObject({ failed: 1, notes: ['skipped tests: 3', 'no test ran'] });
  });

  it('A run that exits with an error without a failed test is a failure', () => {
    expect(judge([ok], undefined, 1)).toMatchObject({ passed: 0, failed: 1 });
    expect(judge([ok], counts(3), 1)).toMatchObject({ passed: 3, failed: 1 });
  });
});

describe('the summary', () => {
  const lines = summaryLines([ok, bad], ['redis'], judge([ok, bad], counts(5), 0));

  it('The summary ends with a line of the two figures only', () => {
    expect(lines.at(-1)).toBe('5 passed, 1 failed');
  });

  it('The summary names each step with its seconds, and what was left out', () => {
    expect(lines).toContain('  ok      lint (biome)   1.2 s');
    expect(lines).toContain('  FAILED  types of test  0.05 s');
    expect(lines).toContain('  LEFT OUT by FOYER_TEST_WITHOUT: Redis');
  });
});

describe('the repeated failures', () => {
  const red = '\u001b[31m';
  const file = (name: string, failed: number) => ({
    name: join(root, 'test', name),
    status: 'failed',
    assertionResults: [
      test('passed'),
      ...Array.from({ length: failed }, (_, index) => ({
        status: 'failed',
        ancestorTitles: ['sign-in', 'by password'],
        title: `lets no ${index} in`,
        duration: 1_500,
        failureMessages: [`${red}expected 200\n${'at line\n'.repeat(40)}`],
      })),
    ],
  });
  const broken = { name: join(root, 'test/down.test.ts'), status: 'failed', message: 'no port', assertionResults: [] };

  it('A failure is repeated by file, name and reason, without colours and briefly', () => {
    const lines = failureLines({ ...counts(1), testResults: [file('a.test.ts', 1), broken] });
    expect(lines[0]).toBe('  FAILED  test/a.test.ts > sign-in by password lets no 0 in (1.5 s)');
    expect(lines[1]).toBe('      expected 200');
    expect(lines.slice(-2)).toEqual(['  FAILED  test/down.test.ts', '      no port']);
    expect(lines.length).toBeLessThan(20);
  });

  it('A long list of failures is cut with the number of the rest', () => {
    const lines = failureLines({ ...counts(1), testResults: [file('a.test.ts', 300)] });
    expect(lines.filter((line) => line.includes('FAILED'))).toHaveLength(20);
    expect(lines.at(-1)).toBe('  and 280 more, above');
  });

  it('No failure is repeated when nothing failed or nothing is known', () => {
    expect(failureLines(undefined)).toEqual([]);
    expect(failureLines({ ...counts(1), testResults: [] })).toEqual([]);
  });

  it('The repeated failures come before the two figures', () => {
    const result = { ...counts(1), testResults: [broken] };
    expect(summaryLines([ok], [], judge([ok], result, 1), result).slice(-4)).toEqual([
      '  FAILED  test/down.test.ts',
      '      no port',
      '  test files that could not run: 1',
      '1 passed, 1 failed',
    ]);
  });
});
