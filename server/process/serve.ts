import { setTimeout as sleep } from 'node:timers/promises';
import { createApp } from '../app.ts';
import type { Deps } from '../deps.ts';
import { drain, listen } from './listen.ts';

export interface Serving {
  /**
   * Drains, then closes the stores.
   * @param options `announceMs`: how long /readyz says so before new connections are refused; `keepIdle`: whether clients may
   * send one more request on connections that are idle now, which costs the seconds until those time out.
   */
  stop(options: { announceMs?: number; keepIdle: boolean }): Promise<void>;
}

/** With the announcement, less than the ten seconds that an operator's tools wait before they kill. */
const drainLimitMs = 8_000;

/** Serves requests in this process. */
export async function serve(deps: Deps): Promise<Serving> {
  const { config, database, kv } = deps;
  const { app, stop, readiness } = await createApp(deps);
  const server = await listen(app, config.PORT, config.production ? '0.0.0.0' : '127.0.0.1');
  return {
    async stop({ announceMs = 0, keepIdle }) {
      readiness.draining = true;
      await sleep(announceMs);
      await drain(server, { limitMs: drainLimitMs, keepIdle });
      await stop();
      await Promise.all([kv.close(), database.close()]);
    },
  };
}
