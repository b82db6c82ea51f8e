import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { notes, typesByColumn } from '../../scripts/lib/table-columns.mjs';
import { readColumns, tableSources } from '../../scripts/lib/table-types.mjs';
import { migrate, openDatabase } from '../../server/store/index.ts';
import { backends } from '../support/stores.ts';

const folder = join(import.meta.dirname, '../../server/store');

describe('The generated tables', () => {
  it('The types of the rows are what `npm run docs` writes from the migrations', async () => {
    const sources = tableSources(await readColumns());
    const found = readdirSync(folder).filter((file) => file.startsWith('generated-'));
    expect(found.toSorted()).toEqual(sources.map(([file]) => file));
    for (const [file, source] of sources) expect(readFileSync(join(folder, file), 'utf8')).toBe(source);
  });

  it('Every type and every comment that the migrations do not contain belongs to an existing table or column', async () => {
    const columns = await readColumns();
    const known = new Set(columns.flatMap(({ table, name }) => [table, `${table}.${name}`]));
    expect(columns.length).toBeGreaterThan(200);
    expect([...Object.keys(notes), ...Object.keys(typesByColumn)].filter((name) => !known.has(name))).toEqual([]);
  });

  it.each(backends)('Every table has the columns and the defaults of the schema on $name', async ({ reserve }) => {
    const { urls, remove } = await reserve();
    const database = await openDatabase({ url: urls.databaseUrl, dataDir: urls.dataDir });
    try {
      await migrate(database);
      const tables = (await database.db.introspection.getTables()).filter(({ name }) => name !== 'schema_history');
      const found = tables.flatMap(({ name: table, columns }) =>
        columns.map(({ name, hasDefaultValue }) => `${table}.${name}${hasDefaultValue ? ' with a default' : ''}`),
      );
      const expected = (await readColumns()).map(
        ({ table, name, hasDefault }) => `${table}.${name}${hasDefault ? ' with a default' : ''}`,
      );
      expect(found.toSorted()).toEqual(expected.toSorted());
    } finally {
      await database.close();
      await remove();
    }
  });
});
