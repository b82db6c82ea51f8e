import type { Redis } from 'ioredis';

const REVIVAL_DELAY_MS = 500;

/**
 * Reconnects when ioredis has given up permanently, which happens when an attempt is interrupted at a certain moment
 * (seen in fail-overs under Sentinel): a server must not need a restart to regain its store.
 * @returns call it before closing on purpose.
 */
export function keepReviving(redis: Redis): () => void {
  let stopped = false;
  redis.on('end', () => {
    if (stopped) return;
    const timer = setTimeout(() => {
      // A failed attempt emits another `end`, which starts another attempt.
      if (!stopped) redis.connect().catch(() => {});
    }, REVIVAL_DELAY_MS);
    timer.unref();
  });
  return () => {
    stopped = true;
  };
}
