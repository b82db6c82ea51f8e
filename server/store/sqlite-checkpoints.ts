import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

const lookEveryMs = 1_000;
/** A shorter log is left to SQLite, which checkpoints it when the file is closed. */
const minBytes = 4 * 1024 * 1024;

interface Checkpoints {
  /** Resolves when the thread has closed the file, or there is none. */
  stop(): Promise<void>;
}

/** A request to the thread, which answers with the id. */
export interface CheckpointRequest {
  act: 'checkpoint' | 'close';
  /** Of one opened file. */
  id: number;
  path: string;
}

interface Thread {
  worker: Worker;
  /** Called at the answer, by the id of the request, and for all when the thread ends. */
  answered: Map<number, () => void>;
  /** How many callers keep the process alive until it has answered. */
  awaitedBy: number;
}

/** One for all files of the process, since each takes some 8 MB. */
let thread: Thread | undefined;
let files = 0;

function startThread(): Thread {
  const file = new URL(`./sqlite-checkpoint-thread${extname(import.meta.filename)}`, import.meta.url);
  const worker = new Worker(file, {
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
  });
  worker.unref();
  const started: Thread = { worker, answered: new Map(), awaitedBy: 0 };
  worker.on('message', (id: number) => started.answered.get(id)?.());
  // It could not be loaded: the next look tries again.
  worker.on('error', () => {});
  worker.once('exit', () => {
    if (thread === started) thread = undefined;
    for (const answer of started.answered.values()) answer();
  });
  return started;
}

/** Resolves in any case: the thread has answered or ended. */
function ask({ worker, answered }: Thread, request: CheckpointRequest): Promise<void> {
  return new Promise((resolve) => {
    answered.set(request.id, resolve);
    worker.postMessage(request);
  });
}

/**
 * Copies SQLite's log into its file from a separate thread. A checkpoint waits for the disk, for up to a tenth of a
 * second after a burst of writes; SQLite's own would block the event loop that long. The thread starts on demand, so
 * that an idle process has none. If it fails, or the process is killed meanwhile, nothing is lost: the log still has
 * the data, and the next thread copies them.
 */
export function checkpointElsewhere(path: string): Checkpoints {
  files += 1;
  const id = files;
  let used: Thread | undefined;
  let work: Promise<void> | undefined;
  let stopped = false;
  let seenMs = 0;

  async function look(): Promise<void> {
    if (work) return;
    const log = await stat(`${path}-wal`).catch(() => undefined);
    // The log keeps its length when it restarts, so the length alone is not enough.
    if (stopped || work || !log || log.size < minBytes || log.mtimeMs === seenMs) return;
    seenMs = log.mtimeMs;
    thread ??= startThread();
    used = thread;
    work = ask(used, { act: 'checkpoint', id, path });
    await work;
    work = undefined;
  }

  /** The thread ends with the last file. */
  async function closeIn(open: Thread): Promise<void> {
    open.awaitedBy += 1;
    open.worker.ref();
    await work;
    // One that has ended has closed everything.
    if (thread === open) await ask(open, { act: 'close', id, path });
    open.awaitedBy -= 1;
    if (open.awaitedBy === 0) open.worker.unref();
  }

  const timer = setInterval(() => void look(), lookEveryMs);
  timer.unref();
  return {
    async stop() {
      stopped = true;
      clearInterval(timer);
      if (used) await closeIn(used);
    },
  };
}
