import { migrate } from '../store/index.ts';
import type { Program } from './command.ts';
import { type Context, withContext } from './context.ts';
import type { Result } from './io.ts';
import { counted } from './text.ts';

async function migrateDatabase({ database }: Context): Promise<Result> {
  const { applied } = await migrate(database);
  const text =
    applied.length === 0
      ? 'The database is up to date.'
      : `Applied ${counted(applied.length, 'migration')}: ${applied.join(', ')}.`;
  return { json: { applied }, text };
}

export const migrateCommand = ({ add, io }: Program): void =>
  add('migrate', {
    description: 'bring the tables of the database up to date (a start of Foyer does so too)',
    json: 'print JSON: {"applied": [names]}',
    help: '\nEach migration runs in a transaction of its own, under a lock: it may run while others start.\n\nExample:\n  foyer migrate',
    run: () => withContext(io, migrateDatabase, { migrated: false }),
  });
