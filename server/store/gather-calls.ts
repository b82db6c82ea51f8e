import { StoreUnavailable } from './key-value.ts';

/** More than this many wait for the next statement. */
const maxTogether = 50;

interface Call<A, R> {
  ask: A;
  resolve(result: R): void;
  reject(error: unknown): void;
}

/**
 * Runs the calls of one turn of the event loop together: for a server each of whose answers costs a system call to ask
 * and one to read. Nothing waits longer than until the end of the turn.
 * @param run answers several calls in their order, by one statement: all of it happens, or nothing. A fault of one call
 * must not fail the others, so each is then run alone
 */
export function gatherCalls<A, R>(run: (asks: readonly A[]) => Promise<readonly R[]>): (ask: A) => Promise<R> {
  let waiting: Call<A, R>[] = [];

  async function answer(calls: readonly Call<A, R>[]): Promise<void> {
    try {
      const results = await run(calls.map(({ ask }) => ask));
      for (const [at, result] of results.entries()) calls[at]?.resolve(result);
    } catch (error) {
      if (calls.length > 1 && !(error instanceof StoreUnavailable)) for (const call of calls) void answer([call]);
      else for (const { reject } of calls) reject(error);
    }
  }

  function runWaiting(): void {
    const calls = waiting;
    waiting = [];
    for (let at = 0; at < calls.length; at += maxTogether) void answer(calls.slice(at, at + maxTogether));
  }

  return (ask) =>
    new Promise((resolve, reject) => {
      // After all requests and answers that have arrived by now.
      if (waiting.length === 0) setImmediate(runWaiting);
      waiting.push({ ask, resolve, reject });
    });
}
