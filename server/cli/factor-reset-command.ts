import type { Command } from 'commander';
import { withContext } from './context.ts';
import { CliError, exitCodes } from './errors.ts';
import { cancelFactorResetByName, resetFactors, showResets } from './factor-resets.ts';
import type { Act, CliIo } from './io.ts';

interface ResetOptions {
  list?: boolean;
  cancel?: boolean;
  json?: boolean;
}

export function factorResetCommand(users: Command, io: CliIo, act: Act): void {
  users
    .command('reset-mfa')
    .description('take the second factor away from a member who has lost it')
    .argument('[member]', 'e-mail address, verified phone number, or id (sub)')
    .option('--list', 'the resets that wait')
    .option('--cancel', "the member's second factor stays")
    .option('--json', 'print JSON; times are NumericDates')
    .addHelpText(
      'after',
      `
First make sure by other means that it is the member who asks. Nothing is taken away at once: the member is told by mail, by text
message and by a notification, and can say no by the link in them, or in the settings. When MFA_RESET_WAIT_HOURS have
passed, app and recovery codes are removed, remembered devices are forgotten, all sessions end, and a mail tells the
member. The password and passkeys stay.

Examples:
  foyer user reset-mfa ada@example.com
  foyer user reset-mfa --list
  foyer user reset-mfa ada@example.com --cancel`,
    )
    .action(async (who: string | undefined, options: ResetOptions) => {
      const { list = false, cancel = false } = options;
      if (list && (cancel || who !== undefined)) {
        throw new CliError(exitCodes.usage, 'error: --list stands alone');
      }
      if (list) return act(() => withContext(io, showResets), options);
      if (who === undefined) throw new CliError(exitCodes.usage, "error: missing required argument 'member'");
      await act(
        () =>
          withContext(io, (context) => (cancel ? cancelFactorResetByName(context, who) : resetFactors(context, who))),
        options,
      );
    });
}
