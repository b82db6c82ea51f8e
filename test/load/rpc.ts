import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { nodeSettings } from '../../scripts/lib/processes.mjs';

/**
 * Calls between the process that leads a measurement and its child processes. Each child answers named functions over
 * Node's channel between parent and child, so that no process uses the event loop of another.
 */

type Handlers = Record<string, (argument: never) => unknown>;
interface Call {
  id: number;
  name: string;
  argument: unknown;
}
type Answer = { id: number; result: unknown } | { id: number; error: string };

/** In the child: answers calls until the parent exits. */
export function serve(handlers: Handlers): void {
  process.on('message', async ({ id, name, argument }: Call) => {
    const answer = async (): Promise<Answer> => {
      try {
        const handler = handlers[name];
        if (!handler) throw new Error(`no such call: ${name}`);
        return { id, result: await handler(argument as never) };
      } catch (error) {
        return { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
      }
    };
    process.send?.(await answer());
  });
  // An orderly exit writes the profile, if there is one.
  process.on('disconnect', () => process.exit(0));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
}

/** The functions of a child, as its parent calls them. */
type Remote<H> = {
  [N in keyof H]: H[N] extends (...given: infer A) => infer R ? (...given: A) => Promise<Awaited<R>> : never;
};
export type Child<H> = Remote<H> & { stop(): Promise<void>; pid: number };

const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

const stopWithinMs = 10_000;

/**
 * Starts a file of this folder as a process of its own.
 * @param environment replaces the variables that Foyer reads; nothing of the caller's own configuration gets through
 */
export function startChild<H>(file: string, environment: Record<string, string> = {}): Child<H> {
  const { PATH, TMPDIR, BENCH_PROFILE_DIR } = process.env;
  const profiled = BENCH_PROFILE_DIR !== undefined && file.startsWith('servers/');
  const child = fork(join(import.meta.dirname, file), {
    env: {
      ...(PATH !== undefined && { PATH }),
      ...(TMPDIR !== undefined && { TMPDIR }),
      NODE_ENV: 'production',
      UV_THREADPOOL_SIZE: String(availableParallelism()),
      // The product gets its own Node options; a baseline gets the defaults of Node.
      ...(file === 'servers/foyer.ts' && nodeSettings({})),
      ...environment,
    },
    // The log is written as in production, but discarded.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: profiled ? ['--cpu-prof', `--cpu-prof-dir=${BENCH_PROFILE_DIR}`] : [],
  });
  children.add(child);
  const open = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  const ended = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      children.delete(child);
      for (const { reject } of open.values()) reject(new Error(`${file} ended (${signal ?? code})`));
      resolve();
    });
  });
  child.on('message', (answer: Answer) => {
    const waiting = open.get(answer.id);
    open.delete(answer.id);
    if ('error' in answer) waiting?.reject(new Error(`${file}: ${answer.error}`));
    else waiting?.resolve(answer.result);
  });
  let calls = 0;
  const call = (name: string, argument: unknown) =>
    new Promise((resolve, reject) => {
      calls += 1;
      open.set(calls, { resolve, reject });
      child.send({ id: calls, name, argument } satisfies Call, (error) => error && reject(error));
    });
  const stop = async () => {
    if (child.connected) child.disconnect();
    const timer = setTimeout(() => child.kill('SIGKILL'), stopWithinMs);
    await ended;
    clearTimeout(timer);
  };
  return new Proxy({} as Child<H>, {
    get: (_target, name) => {
      if (name === 'stop') return stop;
      if (name === 'pid') return child.pid;
      // An async function that returns the child asks for `then`, which must not be a call.
      if (name === 'then' || typeof name !== 'string') return undefined;
      return (argument: unknown) => call(name, argument);
    },
  });
}
