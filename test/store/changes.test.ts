import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { cacheUntilChanged, type Database, migrate, openDatabase } from '../../server/store/index.ts';
import { toClientId } from '../support/ids.ts';

/** Values cached between requests must equal those in the database, whichever process changed them. */
describe('the cache of a SQLite database', () => {
  let dataDir: string;
  let database: Database;
  /** The same stores with their own connections, as another process has them. */
  let other: Database;

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'foyer-test-'));
    database = await openDatabase({ dataDir });
    await migrate(database);
    other = await openDatabase({ dataDir });
    await insert(database, 'one', 'first');
  });

  afterEach(async () => {
    await Promise.all([database.close(), other.close()]);
    await rm(dataDir, { recursive: true, force: true });
  });

  const insert = ({ db }: Database, name: string, value: string) =>
    db.insertInto('meta').values({ name, value }).execute();
  const update = ({ db }: Pick<Database, 'db'>, value: string) =>
    db.updateTable('meta').set({ value }).where('name', '=', 'one').execute();

  function reader(mark: 'ofRows' | 'ofTable' = 'ofRows') {
    const kept = cacheUntilChanged<{ value: string }>(() => database.changes[mark]('meta'));
    let reads = 0;
    return {
      read: (name = 'one') =>
        kept(name, () => {
          reads += 1;
          return database.db.selectFrom('meta').select('value').where('name', '=', name).executeTakeFirst();
        }),
      reads: () => reads,
    };
  }

  it('A row is read once while nothing changes', async () => {
    const { read, reads } = reader();
    await read();
    await read();
    expect(await read()).toEqual({ value: 'first' });
    expect(reads()).toBe(1);
  });

  it.each([
    ['this process', () => database],
    ['another process', () => other],
  ])('A row is read again after a change by %s', async (_who, by) => {
    const { read } = reader();
    // The message of another process about its change arrives in a later turn of the event loop.
    const changed = async (change: Promise<unknown>) => {
      await change;
      await nextTurn();
    };
    await read();
    await changed(update(by(), 'second'));
    expect(await read()).toEqual({ value: 'second' });
    await changed(
      by().transaction((trx) => trx.updateTable('meta').set({ value: 'third' }).where('name', '=', 'one').execute()),
    );
    expect(await read()).toEqual({ value: 'third' });
    await changed(by().db.deleteFrom('meta').where('name', '=', 'one').execute());
    expect(await read()).toBeUndefined();
  });

  it('The cache has only committed data: nothing of an open transaction, and all of it afterwards', async () => {
    const { read } = reader();
    await read();
    const written = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const transaction = database.transaction(async (trx) => {
      await trx.updateTable('meta').set({ value: 'second' }).where('name', '=', 'one').execute();
      written.resolve();
      await goOn.promise;
    });
    await written.promise;
    expect(await read()).toEqual({ value: 'first' });
    goOn.resolve();
    await transaction;
    expect(await read()).toEqual({ value: 'second' });
  });

  it('The cache does not keep what was read while a change came', async () => {
    const kept = cacheUntilChanged<string>(() => database.changes.ofRows('meta'));
    await kept('one', async () => {
      await update(database, 'second');
      return 'read before the change';
    });
    expect(await kept('one', async () => 'read after it')).toBe('read after it');
  });

  it('A cached row stays through changes of other tables and through new rows, which cannot change it', async () => {
    const { read, reads } = reader();
    await read();
    await insert(database, 'two', 'new');
    await database.db.updateTable('clients').set({ name: 'other' }).where('id', '=', toClientId('none')).execute();
    await read();
    expect(reads()).toBe(1);
  });

  it('A cached result that is not one row by its name is dropped when rows are added', async () => {
    const { read, reads } = reader('ofTable');
    await read();
    await insert(database, 'two', 'new');
    await read();
    expect(reads()).toBe(2);
  });

  it('A cached row stays through an insert that does nothing if the row exists', async () => {
    const { read, reads } = reader();
    await read();
    await database.db
      .insertInto('meta')
      .values([
        { name: 'one', value: 'ignored' },
        { name: 'two', value: 'new' },
      ])
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute();
    expect(await read()).toEqual({ value: 'first' });
    expect(reads()).toBe(1);
  });

  it('A cached row is dropped by an insert that may replace', async () => {
    const { read } = reader();
    await read();
    await database.db
      .insertInto('meta')
      .values({ name: 'one', value: 'replaced' })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: 'replaced' }))
      .execute();
    expect(await read()).toEqual({ value: 'replaced' });
  });

  it('An absent row is never cached', async () => {
    const { read, reads } = reader();
    await read('none');
    await read('none');
    expect(reads()).toBe(2);
  });

  it('The cache keeps no more entries than its bound', async () => {
    const kept = cacheUntilChanged<string>(() => 1, 2);
    for (const key of ['a', 'b', 'c']) await kept(key, async () => 'kept');
    expect(await kept('c', async () => 'read')).toBe('kept');
    expect(await kept('a', async () => 'read')).toBe('read');
  });

  it('Nothing is cached when the database cannot report changes', async () => {
    const kept = cacheUntilChanged<string>(() => undefined);
    await kept('a', async () => 'first');
    expect(await kept('a', async () => 'second')).toBe('second');
  });
});
