import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { migrations } from '../../server/store/migrations/index.ts';
import { findPreviousRelease } from './previous-release.ts';

/**
 * That release cannot know a table that this one has added. What its erasure of a user leaves there is forgotten by this
 * one: test/account/deletion/deletion.test.ts ("whom an earlier release has erased during an upgrade").
 */
const withoutNewTables = '^(?!.*Every table is known to hold no user data)';

const root = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);

/** Tests of that release which together read and write most of its tables. */
const tests = [
  ...['sign-up/confirmations', 'sign-in/second-factor', 'password/forgot', 'passkeys/registration', 'mfa/enrolment'],
  ...['oidc/code-flow', 'oidc/refresh', 'oidc/connected-apps', 'oidc/device-flow', 'federation/attempts'],
  ...['billing/purchase', 'billing/sync', 'billing/money-back', 'billing/new-members', 'billing/billing-details'],
  ...['account/profile', 'account/deletion/deletion', 'account/contact/email-change', 'account/activity'],
  ...['messages/outbox', 'messages/worker', 'api/user-records', 'cli/users', 'cli/keys'],
].map((name) => `test/${name}.test.ts`);

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { message: string }[];
}

/** The code of a commit, whose database gets the migrations of this one, and one more if it is given. */
async function checkOut(commit: string, addition = ''): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'foyer-release-'));
  await run('sh', ['-c', 'git -C "$1" archive "$2" | tar -x -C "$3"', 'sh', root, commit, folder]);
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  // Its pages name its own stylesheets and scripts.
  const vite = [
    join(root, 'node_modules/.bin/vite'),
    'build',
    '--config',
    'sandbox/vite.config.ts',
    '--logLevel',
    'error',
  ];
  await run(process.execPath, vite, { cwd: folder, env: { ...process.env, NODE_ENV: 'production' } });
  const present = pathToFileURL(join(root, 'server/store/migrations/index.ts')).href;
  await writeFile(
    join(folder, 'server/store/migrations/index.ts'),
    // A PostgreSQL that outlives the run keeps databases by the texts of the folder.
    `// ${migrations.map(({ name }) => name).join(' ')}\nimport { migrations as present } from '${present}';\nexport const migrations = [...present, ${addition}];\n`,
  );
  return folder;
}

async function runTests(folder: string, files: readonly string[]): Promise<Report> {
  const output = join(folder, 'report.json');
  const settings = [
    '--maxWorkers=1',
    '--json',
    '--outputFile',
    output,
    '-t',
    withoutNewTables,
    '--runTestsByPath',
    ...files,
  ];
  const jest = ['--max-semi-space-size=64', 'node_modules/jest/bin/jest.js', '--rootDir', folder];
  const env = { ...process.env, FOYER_TEST: 'all' };
  await run(process.execPath, [...jest, ...settings], { cwd: folder, env, maxBuffer: 1e8 }).catch(() => {});
  return JSON.parse(await readFile(output, 'utf8')) as Report;
}

const release = findPreviousRelease();

if ('commit' in release) {
  describe('The code of the release before', () => {
    it('The code of the release before passes its own tests on the tables of this release', async () => {
      const folder = await checkOut(release.commit);
      try {
        const present = tests.filter((file) => existsSync(join(folder, file)));
        expect(present.length).toBeGreaterThan(tests.length / 2);
        const { testResults, numPassedTests } = await runTests(folder, present);
        expect(testResults.map(({ message }) => message).filter((message) => message !== '')).toEqual([]);
        expect(numPassedTests).toBeGreaterThan(100);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    }, 1_200_000);

    it('The same tests fail on tables without a column that the release before uses', async () => {
      const removal = `{ name: '9999-removal', up: ({ schema }) => schema.alterTable('users').dropColumn('locale').execute() }`;
      const folder = await checkOut(release.commit, removal);
      try {
        const { numFailedTests } = await runTests(folder, ['test/sign-up/confirmations.test.ts']);
        expect(numFailedTests).toBeGreaterThan(0);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    }, 300_000);
  });
} else {
  it('Without the code of the release before only the rules for migrations protect an upgrade', () => {
    expect(release.absent).toMatch(/^(?:the history of git does not reach it$|its packages are not installed: )/);
  });
}
