import { type Command, InvalidArgumentError } from 'commander';
import { type OutboxState, outboxStates } from '../messages/index.ts';
import { withContext } from './context.ts';
import { CliError, exitCodes } from './errors.ts';
import type { Act, CliIo } from './io.ts';
import { retryMessages, showMessages } from './outbox.ts';

function parseState(text: string): OutboxState {
  const state = outboxStates.find((known) => known === text);
  if (!state) throw new InvalidArgumentError(`Write ${outboxStates.join(', ')}.`);
  return state;
}

function parseLimit(text: string): number {
  const value = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > 1_000) throw new InvalidArgumentError('Write a whole number from 1 to 1000.');
  return value;
}

export function outboxCommands(program: Command, io: CliIo, act: Act): void {
  const outbox = program.command('outbox').description('mail, SMS, notifications and logout tokens on their way');

  outbox
    .command('list')
    .description('messages, the newest first: what waits, what was delivered lately, what was given up')
    .option('--state <STATE>', `only those that are ${outboxStates.join(', ')}`, parseState)
    .option('--limit <N>', 'at most so many, up to 1000', parseLimit, 50)
    .option('--json', 'print JSON; times in seconds since the epoch')
    .addHelpText(
      'after',
      '\nRecipients are masked, and what a message says is never shown.\n\nExample:\n  foyer outbox list --state dead',
    )
    .action((options: { state?: OutboxState; limit: number; json?: boolean }) =>
      act(() => withContext(io, (context) => showMessages(context, options)), options),
    );

  outbox
    .command('retry')
    .description('try dead letters again, at once and with all attempts before them')
    .argument('[id]', 'one of them')
    .option('--all-dead', 'all whose content is still there (two weeks)')
    .option('--json', 'print JSON: {"retried"}')
    .addHelpText(
      'after',
      '\nMend first what `foyer outbox list --state dead` says.\n\nExamples:\n  foyer outbox retry 019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b\n  foyer outbox retry --all-dead',
    )
    .action((id: string | undefined, options: { allDead?: true; json?: boolean }) => {
      if ((id === undefined) === (options.allDead === undefined)) {
        throw new CliError(exitCodes.usage, 'error: name either one message or --all-dead (see --help)');
      }
      return act(() => withContext(io, (context) => retryMessages(context, id)), options);
    });
}
