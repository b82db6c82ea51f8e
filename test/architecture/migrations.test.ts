import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { migrations } from '../../server/store/migrations/index.ts';
import type { Migration } from '../../server/store/migrations/migration.ts';
import { findContractions, listStatements } from './migration-statements.ts';

/** Older than the rule: no release had been made. */
const beforeRule: readonly string[] = ['0021-abandoned-purchases', '0028-id-token-claims'];
/** The migration that stores `compatibleSince`. */
const firstWithColumn = '0031-schema-compatibility';

/** By name, what each migration takes away from the code of the release before. */
async function listContractions(list: readonly Migration[]): Promise<Map<string, string[]>> {
  const uniqueIndexes = new Set<string>();
  const found = new Map<string, string[]>();
  for (const migration of list) {
    const statements = findContractions(await listStatements(migration), uniqueIndexes);
    if (statements.length > 0) found.set(migration.name, statements);
  }
  return found;
}

const names = migrations.map(({ name }) => name);

describe('The migrations leave the code of the release before working', () => {
  it('A migration only adds, or declares since which migration the code works with its result', async () => {
    const contractions = await listContractions(migrations);
    expect([...contractions.keys()].filter((name) => beforeRule.includes(name))).toEqual(beforeRule);
    const declared = migrations.filter(({ compatibleSince }) => compatibleSince !== undefined);
    const faults = [...contractions].filter(
      ([name]) => !beforeRule.includes(name) && !declared.some((migration) => migration.name === name),
    );
    expect(faults).toEqual([]);
  });

  it('A declared migration is an earlier one, so that a release lies between both', () => {
    const position = (name: string) => names.indexOf(name);
    const faults = migrations.filter(
      ({ name, compatibleSince }) =>
        compatibleSince !== undefined &&
        !(position(compatibleSince) >= position(firstWithColumn) && position(compatibleSince) < position(name)),
    );
    expect(faults).toEqual([]);
  });

  it('Every file of the folder is in the list', () => {
    const folder = join(import.meta.dirname, '../../server/store/migrations');
    const files = readdirSync(folder).filter((name) => /^\d{4}-/.test(name));
    expect(files.map((name) => name.replace(/\.ts$/, '')).toSorted()).toEqual(names);
  });
});

const one = (up: Migration['up']): Migration => ({ name: '9999-one', up });

describe('The check of migrations', () => {
  it.each<[string, Migration['up']]>([
    ['drops a table', ({ schema }) => schema.dropTable('leases').execute()],
    ['drops a column', ({ schema }) => schema.alterTable('users').dropColumn('gender').execute()],
    ['renames a column', ({ schema }) => schema.alterTable('users').renameColumn('gender', 'sex').execute()],
    ['renames a table', ({ schema }) => schema.alterTable('users').renameTo('members').execute()],
    [
      'adds a column that is not null and has no default',
      ({ schema }) =>
        schema
          .alterTable('users')
          .addColumn('rank', 'integer', (column) => column.notNull())
          .execute(),
    ],
    [
      'adds a column with a foreign key',
      ({ schema }) =>
        schema
          .alterTable('users')
          .addColumn('friend', 'text', (column) => column.references('users.id'))
          .execute(),
    ],
    [
      'changes the type of a column',
      ({ schema }) =>
        schema
          .alterTable('users')
          .alterColumn('gender', (column) => column.setDataType('integer'))
          .execute(),
    ],
    [
      'forbids null in a column',
      ({ schema }) =>
        schema
          .alterTable('users')
          .alterColumn('locale', (column) => column.setNotNull())
          .execute(),
    ],
    [
      'adds a unique index to columns that are written',
      ({ schema }) => schema.createIndex('users_phone').unique().on('users').column('phone').execute(),
    ],
    ['drops a unique index', ({ schema }) => schema.dropIndex('users_username').execute()],
    [
      'changes stored values',
      async ({ executor }) => {
        await sql`update purchases set state = 'ended' where state = 'done'`.execute(executor);
      },
    ],
    [
      'deletes rows',
      async ({ executor }) => {
        await sql`delete from leases`.execute(executor);
      },
    ],
    [
      'adds a constraint by a statement of its own',
      async ({ executor }) => {
        await sql`alter table users add constraint adult check (age > 17)`.execute(executor);
      },
    ],
    [
      'does so on PostgreSQL alone',
      async ({ schema, kind }) => {
        if (kind === 'postgres') await schema.alterTable('users').dropColumn('gender').execute();
      },
    ],
  ])('A migration that %s is refused without a declaration', async (_title, up) => {
    const contractions = await listContractions([...migrations, one(up)]);
    expect(contractions.get('9999-one')?.length).toBeGreaterThan(0);
  });

  it('A migration that adds tables, optional columns, their values and indexes is allowed', async () => {
    const up: Migration['up'] = async ({ schema, executor }) => {
      await schema
        .createTable('badges')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('name', 'text', (column) => column.notNull())
        .execute();
      await schema.createIndex('badges_name').unique().on('badges').column('name').execute();
      await schema.alterTable('users').addColumn('badge', 'text').execute();
      await schema
        .alterTable('users')
        .addColumn('rank', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
      await sql`update users set badge = 'first' where created_at < 5`.execute(executor);
      await schema.createIndex('users_badge').unique().on('users').column('badge').execute();
      await schema.createIndex('users_rank').on('users').column('rank').execute();
    };
    expect((await listContractions([...migrations, one(up)])).get('9999-one')).toBeUndefined();
  });
});
