import type { RequestListener } from 'node:http';
import { createApp } from '../../server/app.ts';
import { openDatabase, openKeyValue } from '../../server/store/index.ts';
import { listenOnFreePort, type TestFoyer } from '../support/foyer.ts';

export interface SecondProcess {
  /** Where it listens; it answers for the same address as the first. */
  port: number;
  /** What answers there. */
  app: RequestListener;
  close(): Promise<void>;
}

/** Another process of the same Foyer, as far as it shares nothing but the stores: own connections, own everything. */
export async function secondProcess({ deps, extensions, stores }: TestFoyer): Promise<SecondProcess> {
  const { databaseUrl, redisUrl, dataDir } = stores.urls;
  const database = await openDatabase({ url: databaseUrl, dataDir });
  const kv = await openKeyValue({ url: redisUrl, dataDir });
  const app = await createApp({ ...deps, database, kv }, extensions);
  const { server, port } = await listenOnFreePort(app.app);
  return {
    port,
    app: app.app,
    async close() {
      app.stop();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await Promise.all([kv.close(), database.close()]);
    },
  };
}
