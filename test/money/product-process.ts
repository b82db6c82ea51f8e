import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** A mail as the product hands it to its carrier. */
export interface Mail {
  /** Equal for every attempt of one mail. */
  key: string;
  to: string;
  subject: string;
  text: string;
}

/** `movedMs`: how far Stripe's time is ahead of the machine's. */
export type Order =
  | ({ kind: 'begin' } & Settings)
  | { kind: 'erase'; id: number; emails: string[] }
  | { kind: 'clock'; id: number; movedMs: number }
  | { kind: 'jobs' | 'mails'; id: number };

/** `isFirst`: of the processes that start together. */
export interface Settings {
  movedMs: number;
  variables: Record<string, string>;
  isFirst: boolean;
}
export type Answer =
  | { kind: 'loaded' | 'serves' }
  | { kind: 'done'; id: number; left?: number }
  | { kind: 'mail'; mail: Mail };

/** A process that has loaded the product and has not begun yet: loading takes most of the time of a start. */
interface Loaded {
  child: ChildProcess;
  stderr(): string;
}

/** The running product. Its methods reject when the process ends. */
export interface ProductProcess {
  setClock(movedMs: number): Promise<void>;
  /** Runs the jobs of each minute once. */
  runJobs(): Promise<void>;
  /** @returns the number of messages that still wait */
  deliverMails(): Promise<number>;
  /** Two weeks have passed since these members asked for their deletion. */
  erase(emails: string[]): Promise<void>;
  /** Sends SIGKILL. Resolves when the process has ended. */
  kill(): Promise<void>;
  isRunning(): boolean;
  stderr(): string;
}

const built = join(import.meta.dirname, '..', '..', 'dist', 'run', 'start.js');

function load(): Loaded {
  if (!existsSync(built)) throw new Error('run "npm run build" first');
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, NODE_OPTIONS: '', NODE_NO_WARNINGS: '1' };
  const child = fork(join(import.meta.dirname, 'product-child.ts'), [], {
    execArgv: [],
    env,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    text = `${text}${part}`.slice(-20_000);
  });
  return { child, stderr: () => text };
}

async function begin({ child, stderr }: Loaded, order: Order, onMail: (mail: Mail) => void): Promise<ProductProcess> {
  const waiting = new Map<number, { resolve(left?: number): void; reject(error: Error): void }>();
  const serves = Promise.withResolvers<void>();
  // A test may kill it before it serves.
  serves.promise.catch(() => {});
  let ids = 0;
  child.on('message', (answer: Answer) => {
    if (answer.kind === 'mail') onMail(answer.mail);
    else if (answer.kind === 'serves') serves.resolve();
    else if (answer.kind === 'done') waiting.get(answer.id)?.resolve(answer.left);
  });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      const error = new Error(`the product ended (${signal ?? code}): ${stderr()}`);
      serves.reject(error);
      for (const { reject } of waiting.values()) reject(error);
      resolve();
    });
  });
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  function ask(make: (id: number) => Order): Promise<number | undefined> {
    if (!isRunning()) return Promise.reject(new Error('the product has ended'));
    ids += 1;
    const id = ids;
    const { promise, ...settle } = Promise.withResolvers<number | undefined>();
    waiting.set(id, settle);
    child.send(make(id));
    return promise.finally(() => waiting.delete(id));
  }
  child.send(order);
  await serves.promise;
  return {
    setClock: async (movedMs) => void (await ask((id) => ({ kind: 'clock', id, movedMs }))),
    runJobs: async () => void (await ask((id) => ({ kind: 'jobs', id }))),
    deliverMails: async () => (await ask((id) => ({ kind: 'mails', id }))) ?? 0,
    erase: async (emails) => void (await ask((id) => ({ kind: 'erase', id, emails }))),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    isRunning,
    stderr,
  };
}

export interface Products {
  begin(settings: Settings, onMail: (mail: Mail) => void): Promise<ProductProcess>;
  close(): void;
}

/** Starts the product again and again; the next process loads while the present one works. */
export function createProducts(): Products {
  let next = load();
  return {
    begin(settings, onMail) {
      const present = next;
      next = load();
      return begin(present, { kind: 'begin', ...settings }, onMail);
    },
    close: () => next.child.kill('SIGKILL'),
  };
}
