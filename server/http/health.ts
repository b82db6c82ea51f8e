import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestHandler } from 'express';

/** Whether this process should be sent requests. */
export interface Readiness {
  draining: boolean;
}

/** GET /healthz: the process is alive; it asks nothing of the stores, because restarting would not mend those. */
export const alive: RequestHandler = (_req, res) => {
  res.json({ status: 'alive' });
};

/** A store that is slower is away for members too, and whoever asks waits no longer. */
const pingLimitMs = 2_000;

/** @throws when the store does not answer in time */
async function inTime(ping: () => Promise<void>): Promise<void> {
  const limit = new AbortController();
  const tooLate = sleep(pingLimitMs, undefined, { signal: limit.signal, ref: false }).then(() => {
    throw new Error(`no answer within ${pingLimitMs} ms`);
  });
  try {
    await Promise.race([ping(), tooLate]);
  } finally {
    limit.abort();
    tooLate.catch(() => {});
  }
}

/**
 * GET /readyz: 200 when both stores answer, 503 while one is away or while the process drains.
 * @param pings by the name of the store
 */
export function ready(readiness: Readiness, pings: Record<string, () => Promise<void>>): RequestHandler {
  return async (_req, res) => {
    const stores = await Promise.all(
      Object.entries(pings).map(async ([name, ping]): Promise<[string, string]> => {
        try {
          await inTime(ping);
          return [name, 'answers'];
        } catch {
          return [name, 'away'];
        }
      }),
    );
    const ok = !readiness.draining && stores.every(([, state]) => state === 'answers');
    const status = readiness.draining ? 'draining' : ok ? 'ready' : 'not ready';
    res.status(ok ? 200 : 503).json({ status, ...Object.fromEntries(stores) });
  };
}
