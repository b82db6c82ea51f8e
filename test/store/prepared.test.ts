import { prepareOnce } from '../../server/store/index.ts';
import { backends, type OpenStores } from '../support/stores.ts';

/** Built once, and still answered by the database or transaction that each run is given. */
const select = prepareOnce<{ name: string }, { value: string }>((db, v) =>
  db.selectFrom('meta').select('value').where('name', '=', v.name),
);

describe.each(backends)('a query that is built once, on $name', ({ open }) => {
  let stores: OpenStores;
  let other: OpenStores;
  beforeAll(async () => {
    stores = await open();
    other = await open();
  });
  afterAll(() => Promise.all([stores?.destroy(), other?.destroy()]));

  it('It reads with the values of each run', async () => {
    const { db } = stores.database;
    for (const name of ['one', 'two'])
      await db
        .insertInto('meta')
        .values({ name, value: `${name}!` })
        .execute();
    for (const name of ['one', 'two']) expect((await select(db, { name })).rows).toEqual([{ value: `${name}!` }]);
    expect((await select(db, { name: 'three' })).rows).toEqual([]);
  });

  it('It runs in the transaction that it is given', async () => {
    const { db, transaction } = stores.database;
    await transaction(async (trx) => {
      await trx.insertInto('meta').values({ name: 'open', value: 'yes' }).execute();
      expect((await select(trx, { name: 'open' })).rows).toEqual([{ value: 'yes' }]);
      expect((await select(db, { name: 'open' })).rows).toEqual([]);
    });
    expect((await select(db, { name: 'open' })).rows).toEqual([{ value: 'yes' }]);
  });

  it('It runs on the database that it is given', async () => {
    await stores.database.db.insertInto('meta').values({ name: 'here', value: 'yes' }).execute();
    expect((await select(other.database.db, { name: 'here' })).rows).toEqual([]);
  });
});
