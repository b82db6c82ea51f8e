import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestHandler } from 'express';

/** Whether this process can receive requests. */
export interface Readiness {
  draining: boolean;
}

/** GET /healthz: the process is alive. It does not check the stores, because a restart would not repair them. */
export const alive: RequestHandler = (_req, res) => {
  res.json({ status: 'alive' });
};

/** A slower store is unusable for users too, and the prober does not wait longer. */
const pingLimitMs = 2_000;

/** @throws if the store does not answer in time */
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
 * GET /readyz: 200 if both stores answer, 503 if one does not or while the process shuts down.
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
