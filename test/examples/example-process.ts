import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { listenOnFreePort } from '../support/foyer.ts';

const folder = join(import.meta.dirname, '..', '..', 'examples');
const startLimitMs = 15_000;

export interface Example {
  stop(): Promise<void>;
}

/** A port that is free now: the example's address must be registered before the example runs. */
export async function freePort(): Promise<number> {
  const { server, port } = await listenOnFreePort();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Runs an example as its README says, from another folder, until it says that it is ready. */
export async function startExample(script: string, variables: Record<string, string>): Promise<Example> {
  const child = spawn(process.execPath, [join(folder, script)], {
    env: { PATH: process.env.PATH ?? '', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  const deadline = performance.now() + startLimitMs;
  while (!said.includes(' is ready: ')) {
    if (child.exitCode !== null || performance.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`${script} did not start: ${said}`);
    }
    await sleep(20);
  }
  return {
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
