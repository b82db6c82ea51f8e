import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** The built command as a process of its own; `npm test` has built it. */
function foyer(dataDir: string, argv: string[], { input = '', closeOutput = false } = {}) {
  const child = spawn(process.execPath, [join(root, 'dist/server/cli/main.js'), ...argv], {
    env: { PATH: process.env.PATH, DATA_DIR: dataDir },
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  if (closeOutput) child.stdout.destroy();
  child.stdin.end(input);
  return new Promise<{ code: number | null; out: string; err: string }>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, out, err }));
  });
}

describe('the built command', () => {
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'foyer-cli-'));
  });
  afterAll(() => rm(dataDir, { recursive: true, force: true }));

  it('The built command runs as a process with result, faults, standard input and exit codes', async () => {
    const argv = ['user', 'add', '--email', 'ada@example.com', '--password-stdin', '--json'];
    const added = await foyer(dataDir, argv, { input: 'open sesame 7\n' });
    expect(added).toMatchObject({ code: 0, err: 'The database was empty: its tables have been made.\n' });
    expect(JSON.parse(added.out)).toMatchObject({ email: 'ada@example.com' });
    const [again, unknown, help, piped] = await Promise.all([
      foyer(dataDir, argv, { input: 'open sesame 7' }),
      foyer(dataDir, ['user', 'show', 'eve@example.com']),
      foyer(dataDir, ['--help']),
      foyer(dataDir, ['user', 'list'], { closeOutput: true }),
    ]);
    expect(again).toMatchObject({ code: 1, out: '', err: expect.stringContaining('another member has it already') });
    expect(unknown).toEqual({ code: 3, out: '', err: 'There is no member eve@example.com.\n' });
    expect(help).toMatchObject({ code: 0, err: '' });
    // `foyer user list | head -0`
    expect(piped).toEqual({ code: 0, out: '', err: '' });
  });
});
