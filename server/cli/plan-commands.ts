import type { Command } from 'commander';
import { CliError, exitCodes } from './errors.ts';
import type { Act, CliIo } from './io.ts';
import { checkPlans, listPlans, readPlanSetup, syncPlansAtStripe } from './plans.ts';
import { counted } from './text.ts';

export function planCommands(program: Command, io: CliIo, act: Act): void {
  const plans = program.command('plans').description('the plans that members choose from, and their prices at Stripe');

  plans
    .command('list')
    .description('the catalogue: PLANS_FILE, or the one that comes with Foyer')
    .option('--json', 'print JSON; amounts in cents')
    .addHelpText('after', '\nDoes not ask Stripe.\n\nExample:\n  foyer plans list')
    .action((options: { json?: boolean }) => act(() => listPlans(readPlanSetup(io.env)), options));

  plans
    .command('check')
    .description('compare products and prices at Stripe with the catalogue')
    .option('--json', 'print JSON: {"ok", "plans": [{"plan", "lookup_key", "drift": [...]}]}')
    .addHelpText(
      'after',
      '\nChanges nothing; exit code 1 when something differs. `foyer plans sync` mends it.\n\nExample:\n  foyer plans check',
    )
    .action(async (options: { json?: boolean }) => {
      const { differing, result } = await checkPlans(readPlanSetup(io.env));
      await act(async () => result, options);
      if (differing > 0)
        throw new CliError(exitCodes.refused, `${counted(differing, 'price')} at Stripe not as the catalogue says.`);
    });

  plans
    .command('sync')
    .description('make products and prices at Stripe what the catalogue says')
    .option('--dry-run', 'say what would be done, and do nothing')
    .option('--json', 'print JSON: {"dry_run", "plans": [{"plan", "lookup_key", "drift", "acts": [...]}]}')
    .addHelpText(
      'after',
      `
Finds prices by their lookup key. An amount cannot be changed at Stripe: a new price takes the lookup key, the old one is
archived, and who has subscribed to it keeps it. May be run any number of times.

Example:
  foyer plans sync --dry-run`,
    )
    .action((options: { dryRun?: boolean; json?: boolean }) =>
      act(() => syncPlansAtStripe(readPlanSetup(io.env), { dryRun: options.dryRun ?? false }), options),
    );
}
