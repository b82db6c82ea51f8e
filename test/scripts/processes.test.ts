import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const module = pathToFileURL(join(import.meta.dirname, '../../scripts/lib/processes.mjs')).href;
let parent: ChildProcess;

afterEach(() => void parent.kill('SIGKILL'));

/**
 * Runs a command whose body is `body`. Everything that it starts shares its standard output: so `ended` comes when the
 * last of them is gone.
 */
async function commandWith(body: string) {
  const script = `import { command, start, run } from ${JSON.stringify(module)}; await command(async () => { ${body} });`;
  return watched(['--input-type=module', '-e', script]);
}

function watched(args: string[]) {
  const env = { ...process.env, npm_lifecycle_event: 'start' };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  parent = child;
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const ended = once(child, 'close').then(([code]) => ({ code, errors }));
  return { ended, firstLine: async () => String((await once(child.stdout, 'data'))[0]).trim() };
}

// Longer than a test may take: one that is left behind fails the test.
const SHELL = `start('sh', ['-c', 'sleep 40 & echo $!; wait'], { stdio: ['ignore', 'inherit', 'inherit'] })`;
const STUBBORN = `start('sh', ['-c', 'trap "" INT TERM; sleep 40 & echo $!; wait; wait'],
  { stdio: ['ignore', 'inherit', 'inherit'], graceMs: 200 })`;

describe('a command and what it started', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('The signal %s also ends the grandchildren', async (signal, code) => {
    const { ended, firstLine } = await commandWith(`const { signal } = await ${SHELL}.ended;
      return 128 + { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 }[signal];`);
    expect(Number(await firstLine())).toBeGreaterThan(1);
    parent.kill(signal);
    expect((await ended).code).toBe(code);
  });

  it('A process that ignores the signal is killed after its grace period', async () => {
    const { ended, firstLine } = await commandWith(`await ${STUBBORN}.ended; return 7;`);
    expect(Number(await firstLine())).toBeGreaterThan(1);
    parent.kill('SIGTERM');
    expect((await ended).code).toBe(7);
  });

  it('No process is left when the body fails', async () => {
    const { ended, firstLine } = await commandWith(
      `${SHELL}; await new Promise((resolve) => setTimeout(resolve, 300)); throw new Error('no');`,
    );
    expect(Number(await firstLine())).toBeGreaterThan(1);
    expect(await ended).toMatchObject({ code: 1, errors: expect.stringContaining('Error: no') });
  });

  it('A tool that is interrupted does not count as failed', async () => {
    const { ended, firstLine } = await commandWith(
      `await run('a tool', 'sh', ['-c', 'echo started >&2; sleep 40'], { stdio: ['ignore', 'pipe', process.stdout] });`,
    );
    await firstLine();
    parent.kill('SIGINT');
    expect(await ended).toEqual({ code: 130, errors: 'foyer: stopped by SIGINT\n' });
  });

  it('A failing tool is reported with its own output', async () => {
    const { ended } = await commandWith(`await run('The tool', 'sh', ['-c', 'echo what went wrong; exit 4']);`);
    expect(await ended).toEqual({ code: 1, errors: 'foyer: The tool failed (exit code 4):\nwhat went wrong\n' });
  });

  it('A tool that does not exist is named', async () => {
    const { ended } = await commandWith(`await run('The tool', 'no-such-tool', []);`);
    expect(await ended).toMatchObject({
      code: 1,
      errors: expect.stringContaining('no-such-tool could not be started'),
    });
  });

  it('The command ends by itself when npm is killed without a signal to it', async () => {
    const inner = `import { command, start } from ${JSON.stringify(module)};
      await command(async () => { await ${SHELL}.ended; });`;
    const outer = `require('node:child_process').spawn(process.execPath,
      ['--input-type=module', '-e', ${JSON.stringify(inner)}], { stdio: 'inherit' })`;
    const { ended, firstLine } = watched(['-e', outer]);
    expect(Number(await firstLine())).toBeGreaterThan(1);
    parent.kill('SIGKILL');
    expect((await ended).code).toBeNull();
  });
});
