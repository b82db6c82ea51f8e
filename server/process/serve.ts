import { createApp } from '../app.ts';
import type { Deps } from '../deps.ts';
import type { Extensions } from '../extensions.ts';
import { drain, listen } from './listen.ts';
import { listLateModules, loadLateModules } from './load-modules.ts';
import { saveMemoryInQuiet } from './quiet-memory.ts';

interface ServerHandle {
  /** From now on /readyz reports that no more requests should be sent; they are still answered. */
  announce(): void;
  /** Reads the file of providers again. */
  reload(): void;
  /**
   * Drains, then closes the stores.
   * @param options `keepIdle`: whether clients may send one more request on idle connections, which takes the seconds
   * until they are closed.
   */
  stop(options: { keepIdle: boolean }): Promise<void>;
}

/** With the announcement, less than the ten seconds after which an operator's tools kill the process. */
const drainLimitMs = 8_000;

/** Serves requests in this process. */
export async function serve(deps: Deps, extensions: Extensions): Promise<ServerHandle> {
  const { config, log, database, kv, outboxWorker } = deps;
  // Restores the advanced time of an earlier run.
  await extensions.billingClock?.refresh();
  const unfollow = extensions.billingClock?.follow();
  const created = await createApp(deps, extensions);
  const { app, stop, reload, readiness, membership } = created;
  const server = await listen(app, { port: config.PORT, host: config.HOST, maxConnections: config.MAX_CONNECTIONS });
  outboxWorker.start();
  membership.start();
  const stopping = new AbortController();
  // Development restarts too often, and nothing replaces its files unnoticed.
  if (!config.SANDBOX) {
    void loadLateModules(listLateModules(created), log, stopping.signal).then(() => saveMemoryInQuiet(stopping.signal));
  }
  return {
    reload,
    announce() {
      readiness.draining = true;
    },
    async stop({ keepIdle }) {
      unfollow?.();
      stopping.abort();
      const untilMs = performance.now() + drainLimitMs;
      // A payment can take longer than its request.
      const drained = drain(server, { limitMs: drainLimitMs, keepIdle }).then(() =>
        membership.untilPaid(untilMs - performance.now()),
      );
      await Promise.all([drained.then(stop), outboxWorker.stop()]);
      await Promise.all([kv.close(), database.close()]);
    },
  };
}
