/** Real time plus the advanced time. */
export function createEngineClock(realNow: () => number) {
  let movedMs = 0;
  let atMs: number | undefined;
  const nowMs = () => atMs ?? realNow() + movedMs;
  return {
    nowMs,
    /** Seconds since the epoch. */
    now: () => Math.floor(nowMs() / 1_000),
    /** Does something as if it were that time. */
    at<T>(ms: number, work: () => T): T {
      const before = atMs;
      atMs = ms;
      try {
        return work();
      } finally {
        atMs = before;
      }
    },
    move(ms: number) {
      movedMs += ms;
    },
    movedMs: () => movedMs,
    setMoved(ms: number) {
      movedMs = ms;
    },
  };
}
