import type { Command } from 'commander';
import { withContext } from './context.ts';
import type { Act, CliIo } from './io.ts';
import { importDealsFrom } from './partner-deals.ts';

export function partnerDealCommands(program: Command, io: CliIo, act: Act): void {
  program
    .command('partner-deal')
    .description('plans that were bought from a partner')
    .command('import')
    .description('import the deals of a CSV file, all or none')
    .argument('<file>', 'CSV with the columns email and tier (1 to 3, or Appsumo-Tier-1 to 3)')
    .option('--json', 'print JSON: {"added", "changed", "kept"}')
    .addHelpText(
      'after',
      '\nA deal that a member has taken up stays as it is; importing a file again changes nothing.\n\nExample:\n  foyer partner-deal import deals.csv',
    )
    .action((file: string, options: { json?: boolean }) =>
      act(() => withContext(io, (context) => importDealsFrom(context, file)), options),
    );
}
