import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../../scripts/lib/processes.mjs';

interface Report {
  testResults: {
    name: string;
    message: string;
    status: string;
    assertionResults: { title: string; status: string }[];
  }[];
}

const run = promisify(execFile);
let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'foyer-jest-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** Runs Jest with the settings of this repository on these files, in one worker and in the order of their names. */
async function runJest(files: Record<string, string>): Promise<Report['testResults']> {
  for (const [name, source] of Object.entries(files)) await writeFile(join(dir, name), source);
  const output = join(dir, 'report.json');
  const args = ['--config', join(root, 'jest.config.mjs'), '--rootDir', root, '--roots', dir];
  const settings = [...args, '--runInBand', '--json', '--outputFile', output];
  const env = { ...process.env, FOYER_TEST_TIME_FACTOR: '1' };
  await run(process.execPath, ['node_modules/jest/bin/jest.js', ...settings], { cwd: root, env }).catch(() => {});
  const { testResults } = JSON.parse(await readFile(output, 'utf8')) as Report;
  return testResults.toSorted((a, b) => a.name.localeCompare(b.name));
}

const passing = `it('passes', () => {});`;

it('A test and a hook that never end fail at their limit, and the tests after them run', async () => {
  const [file] = await runJest({
    'a.test.ts': `
      afterAll(() => new Promise(() => {}), 50);
      it('hangs', () => new Promise(() => {}), 50);
      it.each([1])('hangs with %i', () => new Promise(() => {}), 50);
      ${passing}`,
  });
  expect(file?.assertionResults.map(({ title, status }) => [title, status])).toEqual([
    ['hangs', 'failed'],
    ['hangs with 1', 'failed'],
    ['passes', 'passed'],
    ['(afterAll)', 'failed'],
  ]);
  expect(file?.message).toContain('the test has not ended within 50 ms');
});

it.each([
  ['a variable of the environment', 'process.env.LEFT = "1"', '$LEFT'],
  ['a function', 'Date.now = () => 0', 'Date.now'],
  ['a listener', 'process.on("warning", () => {})', 'warning'],
])('A file that leaves %s changed fails the next file of its worker', async (_what, change, name) => {
  const files = await runJest({
    'a.test.ts': `it('changes something', () => { ${change}; });${'\n'.repeat(99)}`,
    'b.test.ts': passing,
  });
  expect(files.map(({ status }) => status)).toEqual(['passed', 'failed']);
  expect(files[1]?.message).toContain(`a.test.ts has left changed: ${name}`);
});

it('A request that Stripe’s description forbids fails the test that sends it', async () => {
  const [file] = await runJest({
    'a.test.ts': `
      import { addStripeFaults } from '${join(root, 'test/support/stripe-faults.ts')}';
      it('sends it', () => addStripeFaults('no such field'));
      ${passing}`,
  });
  expect(file?.assertionResults.map(({ status }) => status)).toEqual(['failed', 'passed']);
  expect(file?.message).toContain('no such field');
});

it('A rejected promise that nothing handles fails the test, and the tests after it run', async () => {
  const [file] = await runJest({
    'a.test.ts': `
      it('rejects', async () => {
        Promise.reject(new Error('nobody waits'));
        await new Promise(setImmediate);
      });
      ${passing}`,
  });
  expect(file?.assertionResults.map(({ status }) => status)).toEqual(['failed', 'passed']);
  expect(file?.message).toContain('a promise was rejected and nothing handled it');
});

it('A file that cannot be loaded fails the run', async () => {
  const files = await runJest({ 'a.test.ts': `import './nowhere.ts';`, 'b.test.ts': passing });
  expect(files.map(({ status }) => status)).toEqual(['failed', 'passed']);
  expect(files[0]?.message).toContain('nowhere.ts');
});
