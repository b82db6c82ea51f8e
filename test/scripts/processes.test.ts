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
  const script = `import { command, run, runTool } from ${JSON.stringify(module)}; await command(async () => { ${body} });`;
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
const SHELL = `run('sh', ['-c', 'sleep 40 & echo $!; wait'])`;

describe('a command and what it started', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('The signal %s also ends the grandchildren', async (signal, code) => {
    const { ended, firstLine } = await commandWith(`return ${SHELL};`);
    expect(Number(await firstLine())).toBeGreaterThan(1);
    parent.kill(signal);
    expect((await ended).code).toBe(code);
  });

  it('The command ends with the exit code of a server that a signal ends', async () => {
    const server = `process.on('SIGINT', () => process.exit(7)); setInterval(() => {}, 1000); console.log(1);`;
    const { ended, firstLine } = await commandWith(`return run('node', ['-e', ${JSON.stringify(server)}]);`);
    await firstLine();
    parent.kill('SIGINT');
    expect(await ended).toEqual({ code: 7, errors: '' });
  });

  it('No process is left when the body fails', async () => {
    const { ended, firstLine } = await commandWith(
      `void ${SHELL}; await new Promise((resolve) => setTimeout(resolve, 300)); throw new Error('no');`,
    );
    expect(Number(await firstLine())).toBeGreaterThan(1);
    expect(await ended).toMatchObject({ code: 1, errors: expect.stringContaining('Error: no') });
  });

  it('A tool that a signal ends does not count as failed', async () => {
    const { ended, firstLine } = await commandWith(
      `console.log('started'); await runTool('sleep', ['40']); console.error('not reached');`,
    );
    await firstLine();
    parent.kill('SIGINT');
    expect(await ended).toEqual({ code: 130, errors: '' });
  });

  it('A failing tool is reported after its own output', async () => {
    const { ended } = await commandWith(`await runTool('sh', ['-c', 'echo what went wrong; exit 4']);`);
    expect(await ended).toEqual({
      code: 1,
      errors: 'what went wrong\nfoyer: sh -c echo what went wrong; exit 4 failed (exit code 4)\n',
    });
  });

  it('A tool that does not exist is named', async () => {
    const { ended } = await commandWith(`await runTool('no-such-tool', []);`);
    expect(await ended).toMatchObject({
      code: 1,
      errors: expect.stringContaining('no-such-tool could not be started'),
    });
  });

  it('The command ends by itself when npm is killed without a signal to it', async () => {
    const inner = `import { command, run } from ${JSON.stringify(module)};
      await command(async () => { await ${SHELL}; });`;
    const outer = `require('node:child_process').spawn(process.execPath,
      ['--input-type=module', '-e', ${JSON.stringify(inner)}], { stdio: 'inherit' })`;
    const { ended, firstLine } = watched(['-e', outer]);
    expect(Number(await firstLine())).toBeGreaterThan(1);
    parent.kill('SIGKILL');
    expect((await ended).code).toBeNull();
  });
});
