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

interface Thread {
  worker: Worker;
  /** Resolves in any case. */
  ended: Promise<void>;
}

function startThread(path: string): Thread {
  const file = new URL(`./sqlite-checkpoint-thread${extname(import.meta.filename)}`, import.meta.url);
  const worker = new Worker(file, {
    workerData: path,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
  });
  worker.unref();
  return { worker, ended: new Promise((resolve) => worker.once('exit', () => resolve())) };
}

/**
 * Copies SQLite's log into its file from a separate thread. A checkpoint waits for the disk, for up to a tenth of a
 * second after a burst of writes; SQLite's own would block the event loop that long. The thread starts on demand, so
 * that an idle process has none. If it fails, or the process is killed meanwhile, nothing is lost: the log still has
 * the data, and the next thread copies them.
 */
export function checkpointElsewhere(path: string): Checkpoints {
  let thread: Thread | undefined;
  let busy = false;
  let stopped = false;
  let seenMs = 0;

  function start(): Thread {
    const started = startThread(path);
    started.worker.on('message', () => {
      busy = false;
    });
    // It could not be loaded, or could not open the file: the next look tries again.
    started.worker.on('error', () => {
      busy = false;
      if (thread === started) thread = undefined;
    });
    return started;
  }

  async function look(): Promise<void> {
    if (busy) return;
    const log = await stat(`${path}-wal`).catch(() => undefined);
    // The log keeps its length when it restarts, so the length alone is not enough.
    if (stopped || !log || log.size < minBytes || log.mtimeMs === seenMs) return;
    seenMs = log.mtimeMs;
    busy = true;
    thread ??= start();
    thread.worker.postMessage('checkpoint');
  }

  const timer = setInterval(() => void look(), lookEveryMs);
  timer.unref();
  return {
    async stop() {
      stopped = true;
      clearInterval(timer);
      if (!thread) return;
      thread.worker.ref();
      thread.worker.postMessage('close');
      await thread.ended;
    },
  };
}
