import { judge, summaryLines } from '../../scripts/lib/summary.mjs';

const ok = { name: 'lint', ms: 1_234 };
const bad = { name: 'types', ms: 50, error: new Error('no') };
const test = (status: string) => ({ status });
const counts = (passed: number, failed = 0, broken = 0, skipped = 0) => ({
  numPassedTests: passed,
  numFailedTests: failed,
  numPendingTests: skipped,
  numTodoTests: 0,
  testResults: [
    ...Array.from({ length: failed }, () => ({ status: 'failed', assertionResults: [test('failed')] })),
    ...Array.from({ length: broken }, () => ({ status: 'failed', assertionResults: [test('skipped')] })),
  ],
});

describe('the verdict', () => {
  it('A run without failures has no failed count and no notes', () => {
    expect(judge([ok], counts(12), 0)).toEqual({ passed: 12, failed: 0, notes: [] });
  });

  it('The verdict counts failed tests, test files that could not run, and failed checks', () => {
    const verdict = judge([ok, bad], counts(12, 2, 1), 1);
    expect(verdict).toMatchObject({ passed: 12, failed: 4 });
    expect(verdict.notes).toEqual(['failed check: types', 'test files that could not run: 1']);
  });

  it('A run without any test is a failure', () => {
    expect(judge([ok], counts(0), 0)).toMatchObject({ passed: 0, failed: 1 });
    expect(judge([ok], counts(0, 0, 0, 3), 0)).toMatchObject({ failed: 1 });
  });

  it('A run that exits with an error without a failed test is a failure', () => {
    expect(judge([ok], undefined, 1)).toMatchObject({ passed: 0, failed: 1 });
    expect(judge([ok], counts(3), 1)).toMatchObject({ passed: 3, failed: 1 });
  });
});

describe('the summary', () => {
  const lines = summaryLines([ok, bad], ['Redis'], judge([ok, bad], counts(5), 0));

  it('The summary ends with a line of the two figures only', () => {
    expect(lines.at(-1)).toBe('5 passed, 1 failed');
  });

  it('The summary names each step with its seconds, and each part that the run left out', () => {
    expect(lines).toContain('  ok      lint  1.2 s');
    expect(lines).toContain('  FAILED  types  0.1 s');
    expect(lines).toContain('  LEFT OUT by FOYER_TEST_WITHOUT: Redis');
  });
});
