import { flushCompileCache } from 'node:module';
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

const lookEveryMs = 1_000;
/** A collection in small steps, of up to 100 ms in all, begins after so many looks. */
const quietLooks = 5;
/** The share of its time in which the event loop is busy, up to which a look counts as quiet. */
const quietShare = 0.05;

/**
 * Decides from the busy share of each second whether V8 shall save memory.
 * @returns for each look, in order: whether it shall
 */
export function createQuietWatch(): (busyShare: number) => boolean {
  let quiet = 0;
  return (busyShare) => {
    quiet = busyShare > quietShare ? 0 : quiet + 1;
    return quiet >= quietLooks;
  };
}

/**
 * Lets V8 return memory to the system while few requests come: up to 16 MB of the young generation, and what a load has
 * left. By itself V8 waits for a rate of allocation that a server never has. Under load the setting would double the
 * processor time of requests, so the first busy second takes it back.
 */
export function saveMemoryInQuiet(signal: AbortSignal): void {
  if (signal.aborted) return;
  // Node refuses compiled code of a process with other settings: what is compiled until now is kept with today's.
  flushCompileCache();
  const shallSave = createQuietWatch();
  let saving = false;
  let last = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const save = shallSave(performance.eventLoopUtilization(now, last).utilization);
    last = now;
    if (save === saving) return;
    saving = save;
    setFlagsFromString(save ? '--memory-saver-mode' : '--no-memory-saver-mode');
  }, lookEveryMs);
  timer.unref();
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}
