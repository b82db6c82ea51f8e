/**
 * A longer gap between two looks is not this process's own doing in tests that wait; the machine was busy with other
 * work.
 */
const mostBetweenLooksMs = 50;
const lookEveryMs = 10;

/**
 * A stopwatch for waits: counts only the time in which this process could run, so that a limit holds on a busy machine
 * as on an idle one. Not for work that blocks the event loop.
 * @returns stops it, and returns milliseconds
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
 * A stopwatch for work: counts the processor time of this process, whatever else the machine does.
 * @returns milliseconds so far, of all threads together
 */
export function workTime(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
}
