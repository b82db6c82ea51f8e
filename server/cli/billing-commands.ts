import type { Command } from 'commander';
import { diffBilling, reconcileBilling } from './billing.ts';
import { type Context, withContext } from './context.ts';
import { CliError, exitCodes } from './errors.ts';
import type { Act, CliIo, Result } from './io.ts';
import { counted } from './text.ts';

export function billingCommands(program: Command, io: CliIo, act: Act): void {
  const billing = program.command('billing').description('memberships and orders, compared with Stripe');

  /** Remaining differences are printed after the result, and change the exit code. */
  async function run(
    compare: (context: Context) => Promise<{ left: number; result: Result }>,
    options: { json?: boolean },
  ): Promise<void> {
    let differing = 0;
    await act(
      () =>
        withContext(io, async (context) => {
          const { left, result } = await compare(context);
          differing = left;
          return result;
        }),
      options,
    );
    if (differing > 0)
      throw new CliError(exitCodes.refused, `${counted(differing, 'difference')} between Foyer and Stripe.`);
  }

  billing
    .command('diff')
    .description('compare every membership and order with Stripe, and change nothing')
    .option(
      '--json',
      'print JSON: {"ok", "compared", "differences": [{"what", "user", "customer", "detail"}], "repaired"}',
    )
    .addHelpText(
      'after',
      `
Exit code 1 when something differs. A few members a second. What to do about each is in docs/operating.md.

Example:
  foyer billing diff`,
    )
    .action((options: { json?: boolean }) => run(diffBilling, options));

  billing
    .command('reconcile')
    .description('the same, and make equal what can be: a running Foyer does it every hour')
    .option('--json', 'print JSON: {"ok", "compared", "differences": [...], "repaired": [...]}')
    .addHelpText(
      'after',
      `
Stripe is right: what is stored here is read anew from it, orders that are missing are written, and mails that were not
sent go out by the running Foyer's outbox. Nothing is changed at Stripe, and no one is charged. Exit code 1 when something
is left that only you can mend.

Example:
  foyer billing reconcile`,
    )
    .action((options: { json?: boolean }) => run(reconcileBilling, options));
}
