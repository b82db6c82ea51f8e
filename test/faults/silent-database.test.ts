import { sql } from 'kysely';
import { type Database, openDatabase, StoreUnavailable } from '../../server/store/index.ts';
import { type ServerProxy, startProxy } from '../support/proxy.ts';
import { type Backend, secondBackends } from '../support/stores.ts';
import { waitFor } from '../support/wait-for.ts';

/** How long the client waits for an answer, and half of it again for a machine that is busy. */
const oneWaitMs = 15_000;

async function behindProxy(backend: Backend) {
  const { urls, remove } = await backend.reserve({ migrated: true });
  const proxy = await startProxy(urls.databaseUrl);
  const [database, direct] = [
    await openDatabase({ url: proxy.url, dataDir: urls.dataDir }),
    await openDatabase({ url: urls.databaseUrl, dataDir: urls.dataDir }),
  ];
  return {
    proxy,
    database,
    direct,
    async stop() {
      await proxy.mend();
      await Promise.all([database.close(), direct.close()]);
      await proxy.stop();
      await remove();
    },
  };
}

async function failureOf(work: Promise<unknown>): Promise<number> {
  const beganMs = performance.now();
  await expect(work).rejects.toThrow(StoreUnavailable);
  return performance.now() - beganMs;
}

const write = (db: Database['db'], name: string) => db.insertInto('meta').values({ name, value: 'x' }).execute();

async function names({ db }: Database): Promise<string[]> {
  const rows = await db.selectFrom('meta').select('name').where('name', 'like', 'silent %').orderBy('name').execute();
  return rows.map(({ name }) => name);
}

/** Sessions of other connections to this database that are in the middle of something. */
async function busySessions({ db }: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`.execute(db);
  return rows[0]?.count ?? -1;
}

const [servers] = secondBackends;
if (!servers) {
  it('Without PostgreSQL there is none that falls silent', () => expect(secondBackends).toEqual([]));
} else {
  describe('a PostgreSQL whose network fails', () => {
    let proxy: ServerProxy;
    let database: Database;
    let direct: Database;
    let stop: () => Promise<void>;
    beforeEach(async () => {
      ({ proxy, database, direct, stop } = await behindProxy(servers));
    });
    afterEach(() => stop());

    it('A transaction whose server falls silent in the middle ends after one wait, and the next one works', async () => {
      const tookMs = await failureOf(
        database.transaction(async (trx) => {
          await write(trx, 'silent first');
          proxy.strand();
          await write(trx, 'silent second');
        }),
      );
      expect(tookMs).toBeLessThan(oneWaitMs);
      await database.transaction((trx) => write(trx, 'silent third'));
      expect(await names(direct)).toEqual(['silent third']);
      expect(proxy.connections()).toBe(1);
    }, 60_000);

    it('An answer of which half arrives ends after one wait, and its connection is not used again', async () => {
      const isStalled = proxy.trap({ text: 'half of this', kind: 'half' });
      const tookMs = await failureOf(sql`select repeat('half of this', 1000)`.execute(database.db));
      expect(isStalled()).toBe(true);
      expect(tookMs).toBeLessThan(oneWaitMs);
      await database.ping();
      expect(proxy.connections()).toBe(1);
    }, 60_000);

    it('After one lost route no more than one wait is spent on all connections that were idle', async () => {
      await Promise.all(Array.from({ length: 10 }, () => sql`select pg_sleep(0.2)`.execute(database.db)));
      expect(proxy.connections()).toBe(10);
      proxy.strand();
      const beganMs = performance.now();
      await waitFor(() => database.ping(), 120_000);
      expect(performance.now() - beganMs).toBeLessThan(oneWaitMs);
      expect(proxy.connections()).toBeLessThanOrEqual(10);
    }, 180_000);

    it.each([
      ['before it arrives', 'unsent', []],
      ['after it arrived', 'unanswered', ['silent both', 'silent halves']],
    ] as const)(
      'A COMMIT that is cut %s is not acknowledged, and both writes are there or none',
      async (_when, kind, stored) => {
        const isCut = proxy.trap({ text: 'commit\0', kind });
        await failureOf(
          database.transaction(async (trx) => {
            await write(trx, 'silent both');
            await write(trx, 'silent halves');
          }),
        );
        expect(isCut()).toBe(true);
        await waitFor(async () => expect(await busySessions(direct)).toBe(0));
        expect(await names(direct)).toEqual(stored);
        await database.transaction((trx) => write(trx, 'silent next'));
        expect(await names(direct)).toContain('silent next');
      },
    );

    it('A row that a stranded transaction has locked is free again within its limit', async () => {
      await write(direct.db, 'silent locked');
      const change = (value: string) => (trx: Database['db']) =>
        trx.updateTable('meta').set({ value }).where('name', '=', 'silent locked').execute();
      await failureOf(
        database.transaction(async (trx) => {
          await change('lost')(trx);
          proxy.strand();
          await change('lost again')(trx);
        }),
      );
      await waitFor(() => database.transaction(change('kept')), 30_000);
      const rows = await direct.db.selectFrom('meta').select('value').where('name', '=', 'silent locked').execute();
      expect(rows).toEqual([{ value: 'kept' }]);
    }, 90_000);
  });
}
