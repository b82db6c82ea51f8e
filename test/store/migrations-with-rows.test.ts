import { sql } from 'kysely';
import { type Database, migrate, openDatabase } from '../../server/store/index.ts';
import { migrations } from '../../server/store/migrations/index.ts';
import { backends } from '../support/stores.ts';

/** The last released migration: databases with rows exist at this version. */
const released = '0012-resource-algorithms';
const end = migrations.findIndex(({ name }) => name === released) + 1;

/** A value that fits a column and differs in each row. */
function valueFor(dataType: string, row: number): string | number | Buffer {
  if (/int|numeric/i.test(dataType)) return row;
  if (/blob|bytea/i.test(dataType)) return Buffer.from([row]);
  return `value ${row}`;
}

const historyTable = 'schema_history';

async function tablesOf({ db }: Database) {
  return (await db.introspection.getTables()).filter(({ name }) => name !== historyTable);
}

async function rowsOf({ db }: Database, table: string, columns: readonly string[]) {
  const { rows } = await sql`select ${sql.join(columns.map((name) => sql.ref(name)))} from ${sql.table(table)}`.execute(
    db,
  );
  return rows.map((row) => JSON.stringify(row)).sort();
}

describe.each(backends)('migrations of a database with rows, on $name', (backend) => {
  it('Every row of every table stays as before, and new columns have their defaults', async () => {
    const { urls, remove } = await backend.reserve();
    const database = await openDatabase(urls);
    try {
      await migrate(database, migrations.slice(0, end));
      const before = new Map<string, { columns: string[]; rows: string[] }>();
      for (const { name, columns } of await tablesOf(database)) {
        for (const row of [1, 2]) {
          const names = columns.map((column) => sql.ref(column.name));
          const values = columns.map(({ dataType }) => valueFor(dataType, row));
          await sql`insert into ${sql.table(name)} (${sql.join(names)}) values (${sql.join(values)})`.execute(
            database.db,
          );
        }
        const known = columns.map((column) => column.name);
        before.set(name, { columns: known, rows: await rowsOf(database, name, known) });
      }
      expect(before.size).toBeGreaterThan(15);
      expect((await migrate(database)).applied).toEqual(migrations.slice(end).map(({ name }) => name));
      for (const [name, { columns, rows }] of before) {
        expect([name, await rowsOf(database, name, columns)]).toEqual([name, rows]);
      }
      const { db } = database;
      expect(await db.selectFrom('notifications').select('security').distinct().execute()).toEqual([{ security: 0 }]);
      expect(await db.selectFrom('outbox').select('decoy').distinct().execute()).toEqual([{ decoy: 0 }]);
      expect(await db.selectFrom('oidc').select('offline').distinct().execute()).toEqual([{ offline: 0 }]);
      expect(await db.selectFrom('users').select('dealAgainAt').distinct().execute()).toEqual([{ dealAgainAt: null }]);
      expect((await migrate(database)).applied).toEqual([]);
    } finally {
      await database.close();
      await remove();
    }
  });

  it('Registered clients with id tokens of the token endpoint keep their claims after the migration, and others stay', async () => {
    const { urls, remove } = await backend.reserve();
    const database = await openDatabase(urls);
    try {
      const at = migrations.findIndex(({ name }) => name === '0028-id-token-claims');
      await migrate(database, migrations.slice(0, at));
      const registrations = {
        web: { client_id: 'web', grant_types: ['authorization_code', 'refresh_token'] },
        device: { client_id: 'device', grant_types: ['urn:ietf:params:oauth:grant-type:device_code'] },
        implicit: { client_id: 'implicit', grant_types: ['implicit'] },
        service: { client_id: 'service', grant_types: ['client_credentials'] },
      };
      for (const [id, registration] of Object.entries(registrations)) {
        const row = { id, name: id, metadata: JSON.stringify(registration), created_at: 1, updated_at: 1 };
        await sql`insert into clients (${sql.join(Object.keys(row).map((name) => sql.ref(name)))})
          values (${sql.join(Object.values(row))})`.execute(database.db);
      }
      await migrate(database, migrations);
      const rows = await database.db.selectFrom('clients').select(['id', 'metadata']).execute();
      expect(Object.fromEntries(rows.map(({ id, metadata }) => [id, JSON.parse(metadata)]))).toEqual({
        web: { ...registrations.web, id_token_claims: true },
        device: { ...registrations.device, id_token_claims: true },
        implicit: registrations.implicit,
        service: registrations.service,
      });
    } finally {
      await database.close();
      await remove();
    }
  });

  it('Purchases that were given up are abandoned after the migration, and others keep their state', async () => {
    const { urls, remove } = await backend.reserve();
    const database = await openDatabase(urls);
    try {
      const at = migrations.findIndex(({ name }) => name === '0021-abandoned-purchases');
      await migrate(database, migrations.slice(0, at));
      const states = ['open', 'charging', 'paid', 'given-up'];
      for (const state of states) {
        const row = { id: state, user_id: 'u', plan_id: '1', state, attempt: 0, created_at: 1, updated_at: 1 };
        await sql`insert into purchases (${sql.join(Object.keys(row).map((name) => sql.ref(name)))})
          values (${sql.join(Object.values(row))})`.execute(database.db);
      }
      await migrate(database, migrations);
      const rows = await database.db.selectFrom('purchases').select(['id', 'state']).execute();
      expect(Object.fromEntries(rows.map(({ id, state }) => [id, state]))).toEqual({
        open: 'open',
        charging: 'charging',
        paid: 'paid',
        'given-up': 'abandoned',
      });
    } finally {
      await database.close();
      await remove();
    }
  });
});
