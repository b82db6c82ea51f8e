/** Between two looks more cannot be this process's own doing in tests that wait; the rest is what a busy machine gave to others. */
const mostBetweenLooksMs = 50;
const lookEveryMs = 10;

/**
 * A stop watch for waits: counts the time as this process has lived it, so that a limit holds on a busy machine as on an idle
 * one. Not for work that keeps the event loop busy.
 * @returns stops it, and answers milliseconds
 */
export function ownTime(): () => number {
  let [lived, last] = [0, performance.now()];
  const look = () => {
    const now = performance.now();
    lived += Math.min(now - last, mostBetweenLooksMs);
    last = now;
  };
  const timer = setInterval(look, lookEveryMs);
  return () => {
    look();
    clearInterval(timer);
    return lived;
  };
}

/**
 * A stop watch for work: counts what the processor has done for this process, whatever else the machine was busy with.
 * @returns milliseconds so far, of all threads together
 */
export function workTime(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
}
