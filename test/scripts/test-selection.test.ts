import { globSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/lib/paths.mjs';
import { excludedFiles, selectBackends, speedOf } from '../../scripts/lib/test-selection.mjs';

const files = globSync('test/**/*.test.{ts,tsx}', { cwd: root }).map((path) => join(root, path));
const on = (file: string, speed: string) => selectBackends(join(root, file), { FOYER_TEST: speed });
const both = { first: true, second: true };
const neither = { first: false, second: false };

it('Each test file runs in the fast tests or in the rest, and all tests have it on both pairs of stores', () => {
  expect(files.length).toBeGreaterThan(400);
  for (const file of files) {
    const [fast, rest, all] = ['fast', 'rest', 'all'].map((speed) => selectBackends(file, { FOYER_TEST: speed }));
    expect([file, fast?.first || rest?.first]).toEqual([file, true]);
    expect([file, all]).toEqual([file, both]);
  }
});

it('A file that names the pairs of stores runs on the second pair in the fast tests or in the rest', () => {
  expect(on('test/sign-in/endings.test.ts', 'fast')).toEqual({ first: true, second: false });
  expect(on('test/sign-in/endings.test.ts', 'rest')).toEqual({ first: false, second: true });
  expect(on('test/attacks/bad-forms.test.ts', 'rest')).toEqual({ first: false, second: true });
});

it('The contracts of the stores run on both pairs in the fast tests, and are no part of the rest', () => {
  expect(on('test/contract/database.contract.test.ts', 'fast')).toEqual(both);
  expect(on('test/contract/database.contract.test.ts', 'rest')).toEqual(neither);
});

it('The journey of a flow is a fast test, and any other test in a browser belongs to the rest', () => {
  expect(on('test/browser/sign-up.browser.test.ts', 'fast')).toEqual({ first: true, second: false });
  expect(on('test/browser/every-page-1.browser.test.ts', 'fast')).toEqual(neither);
  expect(on('test/browser/every-page-1.browser.test.ts', 'rest')).toEqual(both);
});

it('A file without stores of its own runs once', () => {
  expect(on('test/views/format.test.ts', 'fast').first).toBe(true);
  expect(on('test/views/format.test.ts', 'rest')).toEqual(neither);
});

it('A run leaves out exactly the files that it selects no stores for', () => {
  for (const speed of ['fast', 'rest', 'all']) {
    const env = { FOYER_TEST: speed };
    const excluded = excludedFiles(env).map((pattern) => new RegExp(pattern));
    for (const file of files) {
      const { first, second } = selectBackends(file, env);
      expect([file, excluded.some((pattern) => pattern.test(file))]).toEqual([file, !first && !second]);
    }
  }
});

it('A run without a browser leaves out every file that needs one', () => {
  const patterns = excludedFiles({ FOYER_TEST_WITHOUT: 'postgres, browser' }).map((pattern) => new RegExp(pattern));
  const left = files.filter((file) => patterns.some((pattern) => pattern.test(file)));
  expect(left).toEqual(files.filter((file) => file.includes('.browser.test.')));
});

it('A word that is no speed is refused', () => {
  expect(() => speedOf({ FOYER_TEST: 'slow' })).toThrow('FOYER_TEST is "slow". Write fast, rest or all');
  expect(speedOf({})).toBe('all');
});
