import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { listenOnFreePort } from '../support/foyer.ts';

const root = join(import.meta.dirname, '..', '..');
const startLimitMs = 25_000;

export interface Example {
  /** Everything that it has said so far. */
  said(): string;
  /** Resolves when it has ended by itself: its exit code. */
  ended: Promise<number | null>;
  stop(): Promise<void>;
}

/** A port that is free now: the example's address must be registered before the example runs. */
export async function freePort(): Promise<number> {
  const { server, port } = await listenOnFreePort();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Runs a script of this project, from another folder, until it says that it is ready. */
async function startScript(argv: string[], variables: Record<string, string>, stopBy: NodeJS.Signals) {
  const child = spawn(process.execPath, [join(root, argv[0] ?? ''), ...argv.slice(1)], {
    env: { PATH: process.env.PATH ?? '', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  const deadline = performance.now() + startLimitMs;
  while (!said.includes(' is ready: ')) {
    if (child.exitCode !== null || performance.now() > deadline) {
      child.kill(stopBy);
      throw new Error(`${argv.join(' ')} did not start: ${said}`);
    }
    await sleep(20);
  }
  const example: Example = {
    said: () => said,
    ended,
    async stop() {
      child.kill(stopBy);
      await ended;
    },
  };
  return example;
}

/** Runs an example as its README says for an app that is registered already. */
export const startExample = (script: string, variables: Record<string, string>): Promise<Example> =>
  startScript([`examples/${script}`], variables, 'SIGKILL');

/** `npm run example -- NAME`: it registers itself first. The command ends its child, so it is asked to end. */
export const exampleByCommand = (name: string, variables: Record<string, string>): Promise<Example> =>
  startScript(['scripts/example.mjs', name], variables, 'SIGTERM');
