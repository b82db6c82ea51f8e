import type { RequestListener } from 'node:http';
import { createApp } from '../../server/app.ts';
import { openDatabase, openKeyValue } from '../../server/store/index.ts';
import { listenOnFreePort, type TestFoyer } from '../support/foyer.ts';

export interface SecondProcess {
  /** The port of the second process, which answers for the public address of the first. */
  port: number;
  /** The app of the second process. */
  app: RequestListener;
  close(): Promise<void>;
}

/** A second instance of the same Foyer that shares only the stores and has its own connections. */
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
