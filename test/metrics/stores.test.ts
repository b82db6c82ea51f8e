import { sql } from 'kysely';
import { loadConfig } from '../../config/load.ts';
import { openStores } from '../../server/deps.ts';
import { createLog } from '../../server/http/index.ts';
import { createMetrics, type OpenMetrics } from '../../server/metrics/index.ts';
import { migrate } from '../../server/store/index.ts';
import { backends } from '../support/stores.ts';
import { sampleOf } from './read.ts';

describe.each(backends)('metrics of the stores on $name', (backend) => {
  let stores: Awaited<ReturnType<typeof openStores>>;
  let metrics: OpenMetrics;
  let remove: () => Promise<void>;
  beforeAll(async () => {
    const reserved = await backend.reserve();
    remove = reserved.remove;
    const { databaseUrl, redisUrl, dataDir } = reserved.urls;
    const config = loadConfig({
      NODE_ENV: 'test',
      SANDBOX: 'true',
      SECRET_KEY: 'a secret key that is used by tests alone',
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      DATA_DIR: dataDir,
    });
    metrics = await createMetrics(1);
    stores = await openStores(config, createLog('silent'), metrics);
    await migrate(stores.database);
  });
  afterAll(() => remove?.());

  const count = async (store: string, operation: string) =>
    sampleOf((await metrics.local?.text()) ?? '', 'foyer_store_operation_duration_seconds_count', {
      store,
      operation,
    }) ?? 0;
  const failures = async (labels: Record<string, string>) =>
    sampleOf((await metrics.local?.text()) ?? '', 'foyer_store_failures_total', labels) ?? 0;

  it('Each operation of a store is timed under its kind', async () => {
    const { kv, database } = stores;
    const [sets, gets, selects] = [
      await count('key-value', 'set'),
      await count('key-value', 'get'),
      await count('database', 'select'),
    ];
    await kv.set('a', 'b', 10_000);
    expect(await kv.get('a')).toBe('b');
    expect(await kv.get('none')).toBeNull();
    await database.db.selectFrom('users').select('id').execute();
    await database.transaction((trx) => trx.selectFrom('users').select('id').execute());
    expect(await count('key-value', 'set')).toBe(sets + 1);
    expect(await count('key-value', 'get')).toBe(gets + 2);
    expect(await count('database', 'select')).toBe(selects + 2);
    expect(await count('database', 'commit')).toBeGreaterThan(0);
  });

  it('A query that the database refuses is no outage', async () => {
    const before = await failures({ store: 'database', outcome: 'refused' });
    await expect(sql`select no_such_thing`.execute(stores.database.db)).rejects.toThrow();
    expect(await failures({ store: 'database', outcome: 'refused' })).toBe(before + 1);
    expect(await failures({ outcome: 'away' })).toBe(0);
  });

  it('An outage of either store is counted', async () => {
    await stores.kv.close();
    await expect(stores.kv.set('a', 'b', 1_000)).rejects.toThrow();
    expect(await failures({ store: 'key-value', outcome: 'away' })).toBe(1);
    await stores.database.close();
  });
});
