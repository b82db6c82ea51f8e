import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { StoreUrls } from '../support/stores.ts';

export interface ChildSettings extends Pick<StoreUrls, 'databaseUrl' | 'dataDir'> {
  /** The folder of the built product. */
  dist: string;
  carrierUrl: string;
  /** Since this time the product's clock runs `speed` times as fast as the machine's. */
  epochMs: number;
  speed: number;
}

/** The number of changes, and the name of their seed. */
export interface Order {
  seed: number;
  changes: number;
}

export type Report = { name: 'ready' | 'working' | 'committed' };

export interface OutboxChild {
  begin(order: Order): void;
  onReport(listener: (name: Report['name']) => void): void;
  /** Sends SIGKILL. Resolves when the process has ended. */
  kill(): Promise<void>;
}

export const dist = join(import.meta.dirname, '..', '..', 'dist');

/** Resolves when the child waits for its order, because the start is not tested. */
export async function startChild(settings: ChildSettings): Promise<OutboxChild> {
  if (!existsSync(join(dist, 'server', 'main.js'))) throw new Error('run "npm run build" first');
  // The child needs no flags of the test runner: Node runs TypeScript by itself.
  const env = { ...process.env, NODE_OPTIONS: '', NODE_NO_WARNINGS: '1' };
  const child: ChildProcess = fork(join(import.meta.dirname, 'child.ts'), [JSON.stringify(settings)], {
    execArgv: [],
    env,
  });
  const listeners: ((name: Report['name']) => void)[] = [];
  const ready = new Promise<void>((resolve, reject) => {
    listeners.push((name) => name === 'ready' && resolve());
    child.once('exit', (code) => reject(new Error(`the child ended with ${code}`)));
  });
  // The test kills it later on purpose, when no one waits for its end.
  ready.catch(() => {});
  child.on('message', ({ name }: Report) => {
    for (const listener of listeners) listener(name);
  });
  await ready;
  return {
    begin: (order) => child.send(order),
    onReport: (listener) => listeners.push(listener),
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
