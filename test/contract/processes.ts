import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { StoreUrls } from '../support/stores.ts';

/** A task of a worker; `count` is the number of calls at once, or a time in milliseconds. */
export interface Task {
  name:
    | 'take'
    | 'consume'
    | 'setIfAbsent'
    | 'compareAndDelete'
    | 'increment'
    | 'addToSet'
    | 'migrate'
    | 'transactions'
    | 'writes'
    | 'holdWriteLock';
  key: string;
  count: number;
}

export type Answer = { result: unknown } | { error: string };

/** A Node process with the stores open. */
export interface Worker {
  /** Sends a task and resolves with the next answer. */
  perform<T>(task: Task): Promise<T>;
  /** The next answer to a task that answers more than once. */
  next<T>(): Promise<T>;
  stop(): Promise<void>;
}

/** Starts workers and waits until all have opened the stores, so that their tasks start together. */
export async function startWorkers(count: number, urls: StoreUrls): Promise<Worker[]> {
  return Promise.all(Array.from({ length: count }, () => startWorker(urls)));
}

async function startWorker({ databaseUrl, redisUrl, dataDir }: StoreUrls): Promise<Worker> {
  const path = fileURLToPath(new URL('worker.ts', import.meta.url));
  // The child needs no flags of the test runner: Node runs TypeScript by itself.
  const env = { ...process.env, NODE_OPTIONS: '', NODE_NO_WARNINGS: '1' };
  const child = fork(path, [databaseUrl, redisUrl, dataDir], { execArgv: [], env });
  const answers = receive(child);
  await answers();
  return {
    async perform<T>(task: Task) {
      child.send(task);
      return (await answers()) as T;
    },
    async next<T>() {
      return (await answers()) as T;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The child's answers in their order, none lost between two calls. */
function receive(child: ChildProcess): () => Promise<unknown> {
  const arrived: Answer[] = [];
  const waiting: Array<(answer: Answer) => void> = [];
  const deliver = (answer: Answer) => {
    const next = waiting.shift();
    if (next) next(answer);
    else arrived.push(answer);
  };
  child.on('message', deliver);
  child.on('exit', (code, signal) => deliver({ error: `The worker ended (${code ?? signal})` }));
  return async () => {
    const answer = arrived.shift() ?? (await new Promise<Answer>((resolve) => waiting.push(resolve)));
    if ('error' in answer) throw new Error(answer.error);
    return answer.result;
  };
}
