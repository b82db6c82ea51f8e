import type { RequestHandler } from 'express';

/** Whether this process should be sent requests. */
export interface Readiness {
  draining: boolean;
}

/** GET /healthz: the process is alive; it asks nothing of the stores, because restarting would not mend those. */
export const alive: RequestHandler = (_req, res) => {
  res.json({ status: 'alive' });
};

/**
 * GET /readyz: 200 when both stores answer, 503 while one is away or while the process drains.
 * @param pings by the name of the store
 */
export function ready(readiness: Readiness, pings: Record<string, () => Promise<void>>): RequestHandler {
  return async (_req, res) => {
    const stores = await Promise.all(
      Object.entries(pings).map(async ([name, ping]): Promise<[string, string]> => {
        try {
          await ping();
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
