import { sql } from 'kysely';
import { type Database, migrate, openDatabase, pendingMigrations } from '../../server/store/index.ts';
import { migrations } from '../../server/store/migrations/index.ts';
import type { Migration } from '../../server/store/migrations/migration.ts';
import { backends, type StoreUrls } from '../support/stores.ts';
import { startWorkers } from './processes.ts';

const released = migrations.map(({ name }) => name);

describe('the list of migrations', () => {
  it('The list of migrations is numbered without gaps, in order', () => {
    expect(released.map((name) => Number(name.slice(0, 4)))).toEqual(released.map((_, index) => index + 1));
    for (const name of released) expect(name).toMatch(/^\d{4}-[a-z-]+$/);
  });
});

describe.each(backends)('migrations: $name', ({ reserve }) => {
  let urls: StoreUrls;
  let remove: () => Promise<void>;
  let database: Database;

  beforeEach(async () => {
    ({ urls, remove } = await reserve());
    database = await openDatabase({ url: urls.databaseUrl, dataDir: urls.dataDir });
  });
  afterEach(async () => {
    await database.close();
    await remove();
  });

  const table = (name: string): Migration => ({
    name,
    up: async ({ schema }) => {
      await schema.createTable(name.slice(5)).addColumn('id', 'text').execute();
    },
  });
  const tableNames = async () => (await database.db.introspection.getTables()).map(({ name }) => name);

  it('An empty database gets all migrations, and the second run applies nothing', async () => {
    expect(await pendingMigrations(database)).toEqual(released);
    expect(await migrate(database)).toEqual({ applied: released });
    expect(await pendingMigrations(database)).toEqual([]);
    expect(await migrate(database)).toEqual({ applied: [] });
  });

  it('Only appended migrations are applied, and what a newer release has added stays', async () => {
    const [one, two, three] = [table('0001-one'), table('0002-two'), table('0003-three')];
    expect(await migrate(database, [one, two])).toEqual({ applied: ['0001-one', '0002-two'] });
    expect(await pendingMigrations(database, [one, two, three])).toEqual(['0003-three']);
    expect(await migrate(database, [one, two, three])).toEqual({ applied: ['0003-three'] });
    expect(await migrate(database, [one])).toEqual({ applied: [] });
    expect(await tableNames()).toEqual(expect.arrayContaining(['one', 'two', 'three']));
  });

  it('A failing migration leaves nothing of itself and everything before it', async () => {
    const broken: Migration = {
      name: '0002-broken',
      async up({ schema, executor }) {
        await schema.createTable('half').addColumn('id', 'text').execute();
        await sql`select * from no_such_table`.execute(executor);
      },
    };
    const list = [table('0001-one'), broken, table('0003-three')];
    await expect(migrate(database, list)).rejects.toThrow(/no_such_table/);
    expect(await pendingMigrations(database, list)).toEqual(['0002-broken', '0003-three']);
    const names = await tableNames();
    expect(names).toContain('one');
    expect(names).not.toContain('half');
    expect(names).not.toContain('three');
  });

  it('A migration can move data with the same statements in either database', async () => {
    const fill: Migration = {
      name: '0002-fill',
      up: async ({ executor }) => {
        await sql`insert into one (id) values ('moved')`.execute(executor);
      },
    };
    await migrate(database, [table('0001-one'), fill]);
    expect((await sql`select id from one`.execute(database.db)).rows).toEqual([{ id: 'moved' }]);
  });

  it('Several processes that start at once apply each migration once', async () => {
    const workers = await startWorkers(3, urls);
    try {
      const applied = await Promise.all(
        workers.map((worker) => worker.perform<string[]>({ name: 'migrate', key: '', count: 1 })),
      );
      // Chance decides which process applies which migration.
      expect(applied.flat().toSorted()).toEqual(released);
      expect(await pendingMigrations(database)).toEqual([]);
    } finally {
      await Promise.all(workers.map((worker) => worker.stop()));
    }
  });
});
