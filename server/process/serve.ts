import { setTimeout as sleep } from 'node:timers/promises';
import { createApp } from '../app.ts';
import type { Deps } from '../deps.ts';
import { drain, listen } from './listen.ts';

export interface Serving {
  /** Drains, then closes the stores. `announceMs`: how long /readyz says so before new connections are refused. */
  stop(options?: { announceMs?: number }): Promise<void>;
}

/** With the announcement, less than the ten seconds that an operator's tools wait before they kill. */
const drainLimitMs = 8_000;

/** Serves requests in this process. */
export async function serve(deps: Deps): Promise<Serving> {
  const { config, database, kv } = deps;
  const { app, stop, readiness } = await createApp(deps);
  const server = await listen(app, config.PORT, config.production ? '0.0.0.0' : '127.0.0.1');
  return {
    async stop({ announceMs = 0 } = {}) {
      readiness.draining = true;
      await sleep(announceMs);
      await drain(server, { limitMs: drainLimitMs, keepIdle: config.production });
      await stop();
      await Promise.all([kv.close(), database.close()]);
    },
  };
}
