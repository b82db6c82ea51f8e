import { type Command, InvalidArgumentError } from 'commander';
import { type ListedMessage, listMessages, type OutboxState, outboxStates, retryFailed } from '../messages/index.ts';
import type { Context } from './context.ts';
import { CliError, exitCodes } from './errors.ts';
import type { Result } from './io.ts';
import type { JsonOption, Runner } from './runner.ts';
import { counted, moment, numericDate, table } from './text.ts';

const seconds = (ms: number | null) => (ms === null ? null : numericDate(ms));

function toJson(message: ListedMessage) {
  const { id, channel, template, recipient, groupId: group, state, attempts, retriable } = message;
  return {
    id,
    channel,
    template,
    recipient,
    group,
    state,
    attempts,
    last_error: message.lastError,
    created_at: seconds(message.createdAt),
    next_attempt_at: state === 'waiting' ? seconds(message.nextAttemptAt) : null,
    finished_at: seconds(message.finishedAt),
    retriable,
  };
}

async function showMessages({ database }: Context, expected: { state?: OutboxState; limit: number }): Promise<Result> {
  const messages = await listMessages(database.db, expected);
  const rows = messages.map(({ id, createdAt, channel, template, recipient, state, attempts, lastError }) => [
    id,
    moment(createdAt),
    channel === template ? channel : `${channel}: ${template}`,
    recipient,
    state,
    String(attempts),
    lastError ?? '',
  ]);
  const headings = ['id', 'written', 'what', 'to', 'state', 'attempts', 'last error'];
  return {
    json: messages.map(toJson),
    text: rows.length > 0 ? table(headings, rows) : 'No such messages.',
  };
}

/** @param id undefined: all dead letters that still have their content */
async function retryMessages({ database, now }: Context, id: string | undefined): Promise<Result> {
  const retried = await retryFailed(database.db, id, now());
  if (retried === 0 && id !== undefined) {
    throw new CliError(exitCodes.notFound, `There is no dead letter ${id} whose content is still there.`);
  }
  const text = `${counted(retried, 'message')} ${retried === 1 ? 'waits' : 'wait'} again: a running Foyer tries within seconds.`;
  return { json: { retried }, text };
}

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

export function outboxCommands(program: Command, runner: Runner): void {
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
    .action((options: JsonOption & { state?: OutboxState; limit: number }) =>
      runner.runOnStores(options, (context) => showMessages(context, options)),
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
    .action((id: string | undefined, options: JsonOption & { allDead?: true }) => {
      if ((id === undefined) === (options.allDead === undefined)) {
        throw new CliError(exitCodes.usage, 'error: name either one message or --all-dead (see --help)');
      }
      return runner.runOnStores(options, (context) => retryMessages(context, id));
    });
}
