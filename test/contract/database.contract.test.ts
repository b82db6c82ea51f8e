import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { type Database, isUniqueViolation } from '../../server/store/index.ts';
import { toE164, toNormalisedEmail, toSha256 } from '../support/ids.ts';
import { backends, type OpenStores } from '../support/stores.ts';
import { aClient, anOidcRecord, aSigningKey, aUser, NOW_MS } from './rows.ts';

/** The error of `work`, which must fail. */
async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('It did not fail');
}

describe.each(backends)('database: $name', ({ open }) => {
  let stores: OpenStores;
  let database: Database;

  beforeAll(async () => {
    stores = await open();
    database = stores.database;
  });
  afterAll(() => stores.destroy());

  const fact = (name: string) =>
    database.db.selectFrom('meta').select('value').where('name', '=', name).executeTakeFirst();
  const insertFact = (name: string, value = 'x') => database.db.insertInto('meta').values({ name, value }).execute();

  it('The database answers a ping', async () => {
    await expect(database.ping()).resolves.toBeUndefined();
  });

  it('The database holds every column of the schema and returns plain rows of the same values', async () => {
    const user = aUser({
      phone: toE164('+14155550100'),
      acceptedTosVersion: 3,
      acceptedTosAt: NOW_MS,
      disabledAt: NOW_MS,
    });
    const [client, key, record] = [
      aClient({ secretHash: toSha256('ab') }),
      aSigningKey(),
      anOidcRecord({ consumedAt: NOW_MS }),
    ];
    const { db } = database;
    await db.insertInto('users').values(user).execute();
    await db.insertInto('clients').values(client).execute();
    await db.insertInto('signingKeys').values(key).execute();
    await db.insertInto('oidc').values(record).execute();
    const byId = { users: user.id, clients: client.id, signingKeys: key.id };
    expect(await db.selectFrom('users').selectAll().where('id', '=', byId.users).execute()).toStrictEqual([user]);
    expect(await db.selectFrom('clients').selectAll().where('id', '=', byId.clients).execute()).toStrictEqual([client]);
    expect(await db.selectFrom('signingKeys').selectAll().where('id', '=', byId.signingKeys).execute()).toStrictEqual([
      key,
    ]);
    expect(await db.selectFrom('oidc').selectAll().where('idHash', '=', record.idHash).execute()).toStrictEqual([
      record,
    ]);
  });

  it('The database stores text of any script', async () => {
    const givenName = 'Zoë 東京 👩‍🚀 Ελλάδα "\' \\ \n';
    const user = aUser({ givenName });
    await database.db.insertInto('users').values(user).execute();
    const row = await database.db.selectFrom('users').select('givenName').where('id', '=', user.id).executeTakeFirst();
    expect(row).toEqual({ givenName });
  });

  it('Counts and sums are numbers', async () => {
    await database.db.insertInto('clients').values([aClient(), aClient()]).execute();
    const row = await database.db
      .selectFrom('clients')
      .select(({ fn }) => [fn.countAll<number>().as('count'), fn.sum<number>('createdAt').as('sum')])
      .executeTakeFirstOrThrow();
    expect(row.count).toBeGreaterThanOrEqual(2);
    expect(row.sum).toBe(row.count * NOW_MS);
  });

  it('A statement reports how many rows it changed and returns rows on request', async () => {
    const users = [aUser({ gender: 'counted' }), aUser({ gender: 'counted' })];
    await database.db.insertInto('users').values(users).execute();
    const update = database.db.updateTable('users').set({ locale: 'de' }).where('gender', '=', 'counted');
    expect((await update.executeTakeFirst()).numUpdatedRows).toBe(2n);
    const returned = await update.returning('id').execute();
    expect(returned.map(({ id }) => id).sort()).toEqual(users.map(({ id }) => id).sort());
    const removal = database.db.deleteFrom('users').where('gender', '=', 'counted');
    expect((await removal.executeTakeFirst()).numDeletedRows).toBe(2n);
    expect((await removal.executeTakeFirst()).numDeletedRows).toBe(0n);
  });

  describe('unique values', () => {
    it('A unique violation names the e-mail address', async () => {
      await database.db
        .insertInto('users')
        .values(aUser({ email: toNormalisedEmail('twice@example.com') }))
        .execute();
      const second = database.db
        .insertInto('users')
        .values(aUser({ email: toNormalisedEmail('twice@example.com') }))
        .execute();
      const error = await failureOf(second);
      expect(isUniqueViolation(error)).toBe(true);
      expect(isUniqueViolation(error, 'users.email')).toBe(true);
      expect(isUniqueViolation(error, 'users.phone')).toBe(false);
    });

    it('A unique violation names the phone number, which many users may be without', async () => {
      const { db } = database;
      await db
        .insertInto('users')
        .values([aUser(), aUser(), aUser({ phone: toE164('+14155550123') })])
        .execute();
      const error = await failureOf(
        db
          .insertInto('users')
          .values(aUser({ phone: toE164('+14155550123') }))
          .execute(),
      );
      expect(isUniqueViolation(error, 'users.phone')).toBe(true);
    });

    it('A unique violation names the two halves of a record’s key', async () => {
      const record = anOidcRecord();
      await database.db.insertInto('oidc').values(record).execute();
      await database.db
        .insertInto('oidc')
        .values({ ...record, model: 'RefreshToken' })
        .execute();
      const error = await failureOf(database.db.insertInto('oidc').values(record).execute());
      expect(isUniqueViolation(error, 'oidc.id_hash')).toBe(true);
    });

    it('Other errors are not taken for a unique violation', async () => {
      const missing = sql`insert into meta (name) values ('without value')`.execute(database.db);
      expect(isUniqueViolation(await failureOf(missing))).toBe(false);
      expect(isUniqueViolation(new Error('UNIQUE constraint failed: users.email'))).toBe(false);
    });
  });

  describe('transactions', () => {
    it('A transaction commits all its writes together and returns the result of the callback', async () => {
      const answer = await database.transaction(async (trx) => {
        await trx.insertInto('meta').values({ name: 'both-1', value: 'x' }).execute();
        await trx.insertInto('meta').values({ name: 'both-2', value: 'x' }).execute();
        return trx.selectFrom('meta').select('name').where('name', 'like', 'both-%').orderBy('name').execute();
      });
      expect(answer).toEqual([{ name: 'both-1' }, { name: 'both-2' }]);
      expect([await fact('both-1'), await fact('both-2')]).toEqual([{ value: 'x' }, { value: 'x' }]);
    });

    it('A transaction leaves nothing when the callback fails and passes its error on', async () => {
      const failing = database.transaction(async (trx) => {
        await trx.insertInto('meta').values({ name: 'undone', value: 'x' }).execute();
        throw new TypeError('no');
      });
      await expect(failing).rejects.toThrow(TypeError);
      expect(await fact('undone')).toBeUndefined();
      await insertFact('after-undone');
    });

    it('A transaction leaves nothing when a statement fails', async () => {
      const failing = database.transaction(async (trx) => {
        await trx.insertInto('meta').values({ name: 'undone-2', value: 'x' }).execute();
        await trx.insertInto('meta').values({ name: 'undone-2', value: 'x' }).execute();
      });
      expect(isUniqueViolation(await failureOf(failing))).toBe(true);
      expect(await fact('undone-2')).toBeUndefined();
    });

    it('A transaction is not seen by other readers before it commits, and they do not wait for it', async () => {
      await insertFact('seen', 'before');
      let readInBetween: unknown;
      await database.transaction(async (trx) => {
        await trx.updateTable('meta').set({ value: 'after' }).where('name', '=', 'seen').execute();
        readInBetween = await fact('seen');
      });
      expect(readInBetween).toEqual({ value: 'before' });
      expect(await fact('seen')).toEqual({ value: 'after' });
    });

    it('A hundred transactions at once, with single statements among them, lose no write', async () => {
      await insertFact('sum', '0');
      const add = sql<string>`cast(cast(value as integer) + 1 as text)`;
      await Promise.all(
        Array.from({ length: 100 }, async (_, index) => {
          await Promise.all([
            database.transaction(async (trx) => {
              await trx
                .insertInto('meta')
                .values({ name: `sum-${index}`, value: 'x' })
                .execute();
              await trx.updateTable('meta').set({ value: add }).where('name', '=', 'sum').execute();
            }),
            database.db.updateTable('meta').set({ value: add }).where('name', '=', 'sum').execute(),
          ]);
        }),
      );
      expect(await fact('sum')).toEqual({ value: '200' });
    });

    it('A transaction does not mix with a write that another caller makes meanwhile', async () => {
      const { promise: inside, resolve: enter } = Promise.withResolvers<void>();
      const failing = database.transaction(async (trx) => {
        await trx.insertInto('meta').values({ name: 'mixed-mine', value: 'x' }).execute();
        enter();
        await sleep(50);
        throw new Error('rolled back');
      });
      await inside;
      const theirs = insertFact('mixed-theirs');
      await expect(failing).rejects.toThrow('rolled back');
      await theirs;
      expect([await fact('mixed-mine'), await fact('mixed-theirs')]).toEqual([undefined, { value: 'x' }]);
    });
  });
});
