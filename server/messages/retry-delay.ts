const firstWaitMs = 5_000;
const longestWaitMs = 60 * 60_000;
/** With the waits below that is about a day. */
const maxAttempts = 33;

/**
 * How long to wait after a failed attempt: 5 seconds, doubled each time up to an hour, each 20 % shorter or longer so
 * that what failed together is not tried together again.
 * @param attempts how many have failed, from 1
 * @param random from 0 to 1
 * @returns milliseconds; undefined when the message is given up
 */
export function retryDelay(attempts: number, random: number): number | undefined {
  if (attempts >= maxAttempts) return undefined;
  const waitMs = Math.min(firstWaitMs * 2 ** (attempts - 1), longestWaitMs);
  return Math.round(waitMs * (0.8 + 0.4 * random));
}
