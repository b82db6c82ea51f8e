import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { StoreUrls } from '../support/stores.ts';

/** A process that records and seals events until it is killed. */
export interface Recorder {
  /** Kills it with SIGKILL. @returns the names of the events whose transaction has committed */
  kill(): Promise<string[]>;
}

export function startRecorders(count: number, urls: StoreUrls, secret: string): Promise<Recorder[]> {
  return Promise.all(Array.from({ length: count }, () => start(urls, secret)));
}

async function start({ databaseUrl, dataDir }: StoreUrls, secret: string): Promise<Recorder> {
  const path = fileURLToPath(new URL('recorder-process.ts', import.meta.url));
  const loader = new URL('../support/load-tsx.ts', import.meta.url).href;
  const env = { ...process.env, NODE_OPTIONS: '', NODE_NO_WARNINGS: '1' };
  const child: ChildProcess = fork(path, [databaseUrl, dataDir, secret], { execArgv: ['--import', loader], env });
  const committed: string[] = [];
  child.on('message', (name) => void committed.push(String(name)));
  const ended = once(child, 'exit');
  await once(child, 'message');
  return {
    async kill() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await ended;
      }
      return committed;
    },
  };
}
