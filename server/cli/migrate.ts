import type { Command } from 'commander';
import { migrate } from '../store/index.ts';
import { type Context, withContext } from './context.ts';
import type { Result } from './io.ts';
import type { JsonOption, Runner } from './runner.ts';
import { counted } from './text.ts';

async function migrateDatabase({ database }: Context): Promise<Result> {
  const { applied } = await migrate(database);
  const text =
    applied.length === 0
      ? 'The database is up to date.'
      : `Applied ${counted(applied.length, 'migration')}: ${applied.join(', ')}.`;
  return { json: { applied }, text };
}

export function migrateCommand(program: Command, runner: Runner): void {
  program
    .command('migrate')
    .description('bring the tables of the database up to date (a start of Foyer does so too)')
    .option('--json', 'print JSON: {"applied": [names]}')
    .addHelpText(
      'after',
      '\nEach migration runs in a transaction of its own, under a lock: it may run while others start.\n\nExample:\n  foyer migrate',
    )
    .action((options: JsonOption) =>
      runner.run(options, () => withContext(runner.io, migrateDatabase, { migrated: false })),
    );
}
