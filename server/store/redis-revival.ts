import type { Redis } from 'ioredis';

const REVIVAL_DELAY_MS = 500;

/**
 * Connects again when ioredis has given up for good, which it does when an attempt to connect is interrupted at the
 * wrong moment (seen in fail-overs under Sentinel): a server must not stay without its store until it is restarted.
 *
 * @returns call it before closing on purpose.
 */
export function keepReviving(redis: Redis): () => void {
  let stopped = false;
  redis.on('end', () => {
    if (stopped) return;
    const timer = setTimeout(() => {
      // A failed attempt ends in another `end`, and so in another attempt.
      if (!stopped) redis.connect().catch(() => {});
    }, REVIVAL_DELAY_MS);
    timer.unref();
  });
  return () => {
    stopped = true;
  };
}
