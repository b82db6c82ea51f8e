const firstWaitMs = 5_000;
const longestWaitMs = 60 * 60_000;
/** With the delays below that is about a day. */
const maxAttempts = 33;

/**
 * The delay after a failed attempt: 5 seconds, doubled each time up to an hour, each 20 % shorter or longer so that
 * messages that failed together are not retried together.
 * @param attempts the number of failed ones, from 1
 * @param random from 0 to 1
 * @returns milliseconds; undefined: the message is given up
 */
export function retryDelay(attempts: number, random: number): number | undefined {
  if (attempts >= maxAttempts) return undefined;
  const waitMs = Math.min(firstWaitMs * 2 ** (attempts - 1), longestWaitMs);
  return Math.round(waitMs * (0.8 + 0.4 * random));
}
