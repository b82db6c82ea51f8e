import { sql } from 'kysely';
import { toClientId } from '../../server/shared/index.ts';
import { type Database, openDatabase, prepare, type Row, readTogether } from '../../server/store/index.ts';
import { toE164, toSha256 } from '../support/ids.ts';
import { backends, type OpenStores } from '../support/stores.ts';
import { aClient, anOidcRecord, aUser, NOW_MS } from './rows.ts';

describe.each(backends)('prepared statements: $name', ({ open }) => {
  let stores: OpenStores;
  let database: Database;
  beforeAll(async () => {
    stores = await open();
    database = stores.database;
  });
  afterAll(() => stores.destroy());

  const queriesOf = ({ db }: Database) => ({
    user: prepare<{ id: string }, Row<'users'>>((v) =>
      db.selectFrom('users').selectAll('users').where(sql<string>`id`, '=', v.id),
    ),
    client: prepare<{ id: string; atMs: number }, Pick<Row<'clients'>, 'id' | 'secretHash' | 'createdAt'>>((v) =>
      db
        .selectFrom('clients')
        .select(['id', 'secretHash', 'createdAt'])
        .where(sql<string>`id`, '=', v.id)
        .where('createdAt', '<=', v.atMs),
    ),
    record: prepare<{ model: string }, Pick<Row<'oidc'>, 'payload' | 'expiresAt'>>((v) =>
      db.selectFrom('oidc').select(['payload', 'expiresAt']).where('model', '=', v.model).limit(1),
    ),
  });

  it('Rows that are read together have the values, types and names that each query gives alone', async () => {
    const { db } = database;
    const user = aUser({
      givenName: '“Ada”\\u0041\n𝔸 \u2028',
      phone: toE164('+14155550133'),
      disabledAt: Number.MAX_SAFE_INTEGER,
    });
    const client = aClient({ secretHash: toSha256('ab') });
    const record = anOidcRecord();
    await db.insertInto('users').values(user).execute();
    await db.insertInto('clients').values(client).execute();
    await db.insertInto('oidc').values(record).execute();
    const queries = queriesOf(database);
    const found = await readTogether(database, {
      user: queries.user.bind({ id: user.id }),
      client: queries.client.bind({ id: client.id, atMs: NOW_MS + 1_000_000 }),
      record: queries.record.bind({ model: record.model }),
    });
    expect(found.user).toStrictEqual(user);
    expect(found.client).toStrictEqual({ id: client.id, secretHash: client.secretHash, createdAt: client.createdAt });
    expect(found.record).toStrictEqual({ payload: record.payload, expiresAt: record.expiresAt });
  });

  it('A query that finds nothing leaves the others their rows', async () => {
    const queries = queriesOf(database);
    const user = aUser();
    await database.db.insertInto('users').values(user).execute();
    const found = await readTogether(database, {
      client: queries.client.bind({ id: 'none', atMs: 0 }),
      user: queries.user.bind({ id: user.id }),
    });
    expect(found).toStrictEqual({ client: undefined, user });
  });

  it('A text with the form of a placeholder stays a value', async () => {
    const user = aUser({ familyName: '$1 $2' });
    await database.db.insertInto('users').values(user).execute();
    const queries = queriesOf(database);
    const parts = { client: queries.client.bind({ id: '$3', atMs: 1 }), user: queries.user.bind({ id: user.id }) };
    expect((await readTogether(database, parts)).user).toStrictEqual(user);
  });

  it('A kept statement goes on after a migration has added a column', async () => {
    const { databaseUrl: url, dataDir } = stores.urls;
    const migrating = await openDatabase({ url, dataDir });
    const queries = queriesOf(database);
    const user = aUser();
    await database.db.insertInto('users').values(user).execute();
    const read = () => Promise.all(Array.from({ length: 12 }, () => queries.user(database.db, { id: user.id })));
    const together = () => readTogether(database, { user: queries.user.bind({ id: user.id }) });
    await read();
    await together();
    await sql`alter table users add column added_later text`.execute(migrating.db);
    try {
      for (const { rows } of await read()) expect(rows).toMatchObject([user]);
      expect(await together()).toMatchObject({ user });
    } finally {
      await sql`alter table users drop column added_later`.execute(migrating.db);
      await migrating.close();
    }
  });

  /** The database with a list of its statements. */
  async function watched() {
    const { databaseUrl: url, dataDir } = stores.urls;
    const statements: string[] = [];
    const observe = (operation: string) => void (operation === 'connect' || statements.push(operation));
    const opened = await openDatabase({ url, dataDir, observe });
    const queries = queriesOf(opened);
    statements.length = 0;
    const read = (id: string, atMs: number) =>
      readTogether(opened, {
        client: queries.client.bind({ id, atMs }),
        record: queries.record.bind({ model: 'none' }),
      });
    return { opened, statements, read };
  }

  it('The reads of one turn of the event loop are one statement of PostgreSQL, and each gets its own rows', async () => {
    const ids = ['one', '{"two",NULL}', 'th\\r"ee', 'NULL', ''];
    for (const id of ids)
      await database.db
        .insertInto('clients')
        .values(aClient({ id: toClientId(`c${id}`) }))
        .execute();
    const { opened, statements, read } = await watched();
    try {
      const asked = [...ids, 'unknown'].map((id) => `c${id}`);
      const found = await Promise.all(asked.map((id) => read(id, NOW_MS + 1_000_000)));
      expect(found.map(({ client }) => client?.id)).toEqual([...asked.slice(0, -1), undefined]);
      expect((await read('cone', 1)).client).toBeUndefined();
      if (opened.kind === 'postgres') expect(statements).toEqual(['select', 'select']);
    } finally {
      await opened.close();
    }
  });

  it('A hundred reads of one turn get their rows, and so do those that a fault of another one stops', async () => {
    const client = aClient();
    await database.db.insertInto('clients').values(client).execute();
    const { opened, read } = await watched();
    try {
      // PostgreSQL stores no text with this character; SQLite does.
      const faulty = read('\0', NOW_MS).then(
        () => 'answered',
        () => 'failed',
      );
      const all = await Promise.all(Array.from({ length: 100 }, () => read(client.id, NOW_MS + 1_000_000)));
      expect(new Set(all.map((found) => found.client?.id))).toEqual(new Set([client.id]));
      expect(await faulty).toBe(opened.kind === 'postgres' ? 'failed' : 'answered');
    } finally {
      await opened.close();
    }
  });

  it('A read sees what was written before it was asked for', async () => {
    const client = aClient();
    const { opened, read } = await watched();
    try {
      const before = read(client.id, NOW_MS + 1_000_000);
      await database.db.insertInto('clients').values(client).execute();
      await before;
      expect((await read(client.id, NOW_MS + 1_000_000)).client?.id).toBe(client.id);
    } finally {
      await opened.close();
    }
  });

  it('PostgreSQL keeps the statements of frequent queries', async () => {
    if (database.kind === 'sqlite') return;
    const queries = queriesOf(database);
    await database.db.connection().execute(async (connection) => {
      await queries.record(connection, { model: 'Grant' });
      await queries.record(connection, { model: 'RefreshToken' });
      const kept = await sql<{ statement: string }>`select statement from pg_prepared_statements`.execute(connection);
      expect(kept.rows.filter(({ statement }) => statement.includes('from "oidc"'))).toHaveLength(1);
    });
  });
});
