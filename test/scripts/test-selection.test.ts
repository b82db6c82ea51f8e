import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from '../../scripts/lib/processes.mjs';
import { excludedFiles, patterns, readSpeed, selectBackends } from '../../scripts/lib/test-selection.mjs';

const files = globSync('test/**/*.test.{ts,tsx}', { cwd: root }).map((path) => join(root, path));
const on = (file: string, speed: string) => selectBackends(join(root, file), { FOYER_TEST: speed });
const both = { first: true, second: true };
const neither = { first: false, second: false };

it('The complete run has each test file', () => {
  expect(files.length).toBeGreaterThan(400);
  for (const file of files) expect([file, selectBackends(file, { FOYER_TEST: 'all' }).first]).toEqual([file, true]);
});

it('The complete run has the files that the stores decide on both pairs of stores', () => {
  for (const file of ['attacks/redemption', 'billing/webhooks', 'oidc/refresh', 'contract/database.contract'])
    expect([file, on(`test/${file}.test.ts`, 'all')]).toEqual([file, both]);
  expect(on('test/oidc/cors.test.ts', 'all')).toEqual({ first: true, second: false });
});

it('Each pattern of the selection fits a file', () => {
  const paths = files.map((file) => relative(root, file).replaceAll('\\', '/'));
  expect(patterns.filter((pattern) => !paths.some((path) => pattern.test(path)))).toEqual([]);
});

it('The fast run has a file that names the pairs of stores on the first pair alone', () => {
  expect(on('test/sign-in/endings.test.ts', 'fast')).toEqual({ first: true, second: false });
});

it('The fast run has the contracts of the stores on both pairs', () => {
  expect(on('test/contract/database.contract.test.ts', 'fast')).toEqual(both);
});

it('The fast run has the journeys of the flows and no other test in a browser', () => {
  expect(on('test/browser/sign-up.browser.test.ts', 'fast')).toEqual({ first: true, second: false });
  expect(on('test/browser/every-page-1.browser.test.ts', 'fast')).toEqual(neither);
});

it('The fast run has five of six files of attacks', () => {
  const attacks = files.filter((file) => /[/\\]attacks[/\\]/.test(file));
  const left = attacks.filter((file) => !selectBackends(file, { FOYER_TEST: 'fast' }).first);
  expect(left.length).toBeLessThan(attacks.length / 6);
});

it('Each file of the fast run has a test that is not left to the complete run', () => {
  const fast = files.filter((file) => selectBackends(file, { FOYER_TEST: 'fast' }).first);
  const onlyThorough = fast.filter((file) => {
    const source = readFileSync(file, 'utf8');
    return /\bthorough(\.each)?\(/.test(source) && !/\bit(\.each)?[(<]/.test(source);
  });
  expect(onlyThorough).toEqual([]);
});

it('A run leaves out exactly the files that it selects no stores for', () => {
  for (const speed of ['fast', 'all']) {
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

it('A run without the foreign clients leaves out their folder alone', () => {
  const patterns = excludedFiles({ FOYER_TEST_WITHOUT: 'foreign' }).map((pattern) => new RegExp(pattern));
  const left = files.filter((file) => patterns.some((pattern) => pattern.test(file)));
  expect(left).toEqual(files.filter((file) => /[/\\]test[/\\]foreign[/\\]/.test(file)));
  expect(left.length).toBeGreaterThan(0);
});

it('The fast run has no foreign clients', () => {
  expect(on('test/foreign/npm-clients.test.ts', 'fast')).toEqual(neither);
});

it('A word that is no speed is refused', () => {
  expect(() => readSpeed({ FOYER_TEST: 'slow' })).toThrow('FOYER_TEST is "slow". Write fast or all');
  expect(readSpeed({})).toBe('all');
});
