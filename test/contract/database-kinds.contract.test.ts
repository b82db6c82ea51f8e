import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { StoreUnavailable } from '../../server/store/index.ts';
import { leftOut } from '../support/services.ts';
import { backends, type OpenStores } from '../support/stores.ts';

/** Errors that only one of the two databases can have. */
function openNamed(name: string): Promise<OpenStores> {
  const backend = backends.find((candidate) => candidate.name === name);
  if (!backend) throw new Error(`There is no backend ${name}`);
  return backend.open();
}

describe('only SQLite', () => {
  let stores: OpenStores;
  beforeAll(async () => {
    stores = await openNamed('SQLite + embedded');
  });
  afterAll(() => stores.destroy());

  it('A write that bypasses its own transaction fails at once instead of waiting for it', async () => {
    const { database } = stores;
    const insert = () => database.db.insertInto('meta').values({ name: 'bypass', value: 'x' }).execute();
    await expect(database.transaction(insert)).rejects.toThrow(/must use the transaction/);
    await expect(database.transaction(() => database.transaction(insert))).rejects.toThrow(/must use the transaction/);
    await expect(insert()).resolves.toBeDefined();
  });

  it('A value that SQLite has no type for is refused', async () => {
    const insert = sql`insert into meta (name, value) values (${true}, 'x')`.execute(stores.database.db);
    await expect(insert).rejects.toThrow(/parameter 1 is a boolean/);
  });

  it('A full disk throws StoreUnavailable, and what was stored is still there', async () => {
    const { database } = stores;
    await database.db.insertInto('meta').values({ name: 'kept', value: 'x' }).execute();
    const { rows } = await sql<{ pageCount: number }>`pragma page_count`.execute(database.db);
    await sql`pragma max_page_count = ${sql.raw(String(rows[0]?.pageCount))}`.execute(database.db);
    const large = database.db
      .insertInto('meta')
      .values({ name: 'large', value: 'x'.repeat(1_000_000) })
      .execute();
    await expect(large).rejects.toThrow(StoreUnavailable);
    await sql`pragma max_page_count = 1000000`.execute(database.db);
    const names = await database.db.selectFrom('meta').select('name').where('name', 'in', ['kept', 'large']).execute();
    expect(names).toEqual([{ name: 'kept' }]);
  });
});

if (!leftOut('postgres') && !leftOut('redis')) {
  describe('only PostgreSQL', () => {
    let stores: OpenStores;
    beforeAll(async () => {
      stores = await openNamed('PostgreSQL + Redis');
    });
    afterAll(() => stores.destroy());

    it('Two transactions that block each other both succeed, because the loser is repeated', async () => {
      const { database } = stores;
      await database.db
        .insertInto('meta')
        .values([
          { name: 'a', value: '' },
          { name: 'b', value: '' },
        ])
        .execute();
      const runs = { forward: 0, backward: 0 };
      const write = (run: keyof typeof runs, names: string[]) =>
        database.transaction(async (trx) => {
          runs[run] += 1;
          for (const name of names) {
            await trx
              .updateTable('meta')
              .set({ value: sql<string>`value || ${run[0]}` })
              .where('name', '=', name)
              .execute();
            await sleep(100);
          }
        });
      await Promise.all([write('forward', ['a', 'b']), write('backward', ['b', 'a'])]);
      expect(runs.forward + runs.backward).toBe(3);
      const rows = await database.db.selectFrom('meta').select('value').orderBy('name').execute();
      expect(rows.map(({ value }) => value.length)).toEqual([2, 2]);
    });

    it('A connection lost in the middle of a transaction throws StoreUnavailable, commits nothing and is replaced', async () => {
      const { database } = stores;
      const failing = database.transaction(async (trx) => {
        await trx.insertInto('meta').values({ name: 'lost', value: 'x' }).execute();
        await sql`select pg_terminate_backend(pg_backend_pid())`.execute(trx);
      });
      await expect(failing).rejects.toThrow(StoreUnavailable);
      const row = await database.db.selectFrom('meta').selectAll().where('name', '=', 'lost').executeTakeFirst();
      expect(row).toBeUndefined();
    });

    it('An integer that would lose digits is an error, not another number', async () => {
      const { db } = stores.database;
      const wrong = sql`select 9007199254740993::int8 as big`.execute(db);
      await expect(wrong).rejects.toThrow(RangeError);
      expect((await sql`select 9007199254740991::int8 as big`.execute(db)).rows).toEqual([{ big: 9007199254740991 }]);
    });
  });
}
