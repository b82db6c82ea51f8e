import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

const lookEveryMs = 1_000;
/** A log that is shorter is left to SQLite, which checkpoints it when the file is closed. */
const leastBytes = 4 * 1024 * 1024;

export interface Checkpoints {
  /** Resolves when the thread has closed the file. */
  stop(): Promise<void>;
}

/**
 * Copies SQLite's log into its file from a thread of its own. A checkpoint waits for the disk, for as long as a tenth of
 * a second after a burst of writes; SQLite's own would keep the event loop that long. The thread is started when
 * there is something to do for the first time, so that an idle process goes without.
 */
export function checkpointElsewhere(path: string): Checkpoints {
  let thread: Worker | undefined;
  let busy = false;
  let seenMs = 0;

  function startThread(): Worker {
    const file = new URL(`./sqlite-checkpoint-thread${extname(import.meta.filename)}`, import.meta.url);
    const started = new Worker(file, {
      workerData: path,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
    });
    started.on('message', () => {
      busy = false;
    });
    // Without the thread SQLite checkpoints by itself, later.
    started.on('error', () => clearInterval(timer));
    started.unref();
    return started;
  }

  async function look(): Promise<void> {
    if (busy) return;
    const log = await stat(`${path}-wal`).catch(() => undefined);
    // The log keeps its length when it begins anew, so the length alone tells nothing.
    if (!log || log.size < leastBytes || log.mtimeMs === seenMs) return;
    seenMs = log.mtimeMs;
    busy = true;
    thread ??= startThread();
    thread.postMessage('checkpoint');
  }

  const timer = setInterval(() => void look(), lookEveryMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      const running = thread;
      thread = undefined;
      if (!running) return;
      const ended = new Promise<void>((resolve) => running.once('exit', () => resolve()));
      running.ref();
      running.postMessage('close');
      await ended;
    },
  };
}
