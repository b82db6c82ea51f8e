import { Failure } from '../../scripts/lib/say.mjs';
import { judge, summaryLines } from '../../scripts/lib/summary.mjs';

const ok = { name: 'lint (biome)', ms: 1_234 };
const bad = { name: 'types of test', ms: 50, error: new Failure('error TS2322') };
const counts = (passed: number, failed = 0, broken = 0, pending = 0) => ({
  numPassedTests: passed,
  numFailedTests: failed,
  numPendingTests: pending,
  numTodoTests: 0,
  testResults: [
    { status: 'passed', assertionResults: [{ status: 'passed' }] },
    { status: 'failed', assertionResults: [{ status: 'passed' }, { status: 'failed' }] },
    ...Array.from({ length: broken }, () => ({ status: 'failed', assertionResults: [{ status: 'skipped' }] })),
  ],
});

describe('the verdict', () => {
  it('all well', () => {
    expect(judge([ok], counts(12), 0)).toEqual({ passed: 12, failed: 0, notes: [] });
  });

  it('counts failed tests, test files that could not run, and failed checks', () => {
    const verdict = judge([ok, bad], counts(12, 2, 1), 1);
    expect(verdict).toMatchObject({ passed: 12, failed: 4 });
    expect(verdict.notes).toEqual(['failed check: types of test', 'test files that could not run: 1']);
  });

  it('a run without any test is a failure', () => {
    expect(judge([ok], counts(0), 0)).toMatchObject({ passed: 0, failed: 1, notes: ['no test ran'] });
    expect(judge([ok], counts(0, 0, 0, 3), 0)).toMatchObject({ failed: 1, notes: ['skipped tests: 3', 'no test ran'] });
  });

  it('ending badly without a failed test is a failure', () => {
    expect(judge([ok], undefined, 1)).toMatchObject({ passed: 0, failed: 1 });
    expect(judge([ok], counts(3), 1)).toMatchObject({ passed: 3, failed: 1 });
  });
});

describe('the summary', () => {
  const lines = summaryLines([ok, bad], ['redis'], judge([ok, bad], counts(5), 0));

  it('ends with the two figures alone', () => {
    expect(lines.at(-1)).toBe('5 passed, 1 failed');
  });

  it('names each step with its seconds, and what was left out', () => {
    expect(lines).toContain('  ok      lint (biome)   1.2 s');
    expect(lines).toContain('  FAILED  types of test  0.05 s');
    expect(lines).toContain('  LEFT OUT by FOYER_TEST_WITHOUT: Redis');
  });
});
