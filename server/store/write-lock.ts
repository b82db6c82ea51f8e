import { StoreUnavailable } from './key-value.ts';

/** Lets one writer at a time through, in the order of arrival. */
export interface WriteLock {
  /**
   * Resolves at the caller's turn; the caller must call `release` exactly once.
   * @throws StoreUnavailable after `limitMs` of waiting.
   */
  acquire(limitMs: number): Promise<void>;
  release(): void;
}

export function createWriteLock(): WriteLock {
  const waiting: Array<() => void> = [];
  let taken = false;
  return {
    async acquire(limitMs) {
      if (!taken) {
        taken = true;
        return;
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(tryAcquire), 1);
        reject(new StoreUnavailable(`Waited ${limitMs} ms for another write of this process`));
      }, limitMs);
      const tryAcquire = () => {
        clearTimeout(timer);
        resolve();
      };
      waiting.push(tryAcquire);
      return promise;
    },
    release() {
      const next = waiting.shift();
      // The lock passes to the next one without becoming free, so no other caller can take it in between.
      if (next) next();
      else taken = false;
    },
  };
}
