import type { Command } from 'commander';
import { migrate } from '../store/index.ts';
import { withContext } from './context.ts';
import type { Act, CliIo } from './io.ts';
import { counted } from './text.ts';

export function migrateCommand(program: Command, io: CliIo, act: Act): void {
  program
    .command('migrate')
    .description('bring the tables of the database up to date (a start of Foyer does so too)')
    .option('--json', 'print JSON: {"applied": [names]}')
    .addHelpText(
      'after',
      '\nEach migration runs in a transaction of its own, under a lock: it may run while others start.\n\nExample:\n  foyer migrate',
    )
    .action((options: { json?: boolean }) =>
      act(
        () =>
          withContext(
            io,
            async ({ database }) => {
              const { applied } = await migrate(database);
              const text =
                applied.length === 0
                  ? 'The database is up to date.'
                  : `Applied ${counted(applied.length, 'migration')}: ${applied.join(', ')}.`;
              return { json: { applied }, text };
            },
            { migrated: false },
          ),
        options,
      ),
    );
}
