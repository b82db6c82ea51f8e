import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, openDatabase, openKeyValue } from '../../server/store/index.ts';
import { startPostgres, startRedis } from '../support/services.ts';
import type { Backend } from '../support/stores.ts';

/** PostgreSQL and Redis of this test alone, whose files outlive the processes. */
export async function startServers(postgresSettings: string[] = []) {
  const [postgres, redis] = await Promise.all([
    // What is acknowledged must outlive the process.
    startPostgres({}, ['synchronous_commit=on', ...postgresSettings]),
    startRedis(['--appendonly', 'yes', '--appendfsync', 'always']),
  ]);
  const dataDir = await mkdtemp(join(tmpdir(), 'foyer-failures-'));
  /** @param databaseUrl of the PostgreSQL, directly or through a proxy */
  const backendAt = (databaseUrl: string): Backend => ({
    name: 'servers of its own',
    async open() {
      const database = await openDatabase({ url: databaseUrl, dataDir });
      await migrate(database);
      const kv = await openKeyValue({ url: redis.url, dataDir });
      const destroy = async () => {
        await Promise.all([kv.close(), database.close()]);
      };
      return { database, kv, urls: { databaseUrl, redisUrl: redis.url, dataDir }, destroy };
    },
    reserve: () => Promise.reject(new Error('these servers are used once')),
  });
  return {
    postgres,
    redis,
    backendAt,
    backend: backendAt(postgres.url),
    async stop() {
      await Promise.all([postgres.stop(), redis.stop()]);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
