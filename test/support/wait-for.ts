import { setTimeout as sleep } from 'node:timers/promises';

const intervalMs = 50;

/**
 * Repeats an assertion until it holds, for effects after an answer.
 * @throws the error of the last attempt
 */
export async function waitFor<T>(assertion: () => T | Promise<T>, limitMs = 20_000): Promise<T> {
  // Not the time of day: tests replace Date.now.
  const deadlineMs = performance.now() + limitMs;
  for (;;) {
    try {
      return await assertion();
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
    }
    await sleep(intervalMs);
  }
}
