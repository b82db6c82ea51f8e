import { InvalidArgumentError, Option } from 'commander';
import { type ListedMessage, listMessages, type OutboxState, outboxStates, retryFailed } from '../messages/index.ts';
import { type Program, parseNumber } from './command.ts';
import type { Context } from './context.ts';
import { CliError, exitCodes, usageError } from './errors.ts';
import type { Result } from './io.ts';
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

interface ListOptions {
  state?: OutboxState;
  limit: number;
}

async function showMessages({ database }: Context, expected: ListOptions): Promise<Result> {
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
  return { json: messages.map(toJson), text: table(headings, rows, 'No such messages.') };
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

export function outboxCommands({ group }: Program): void {
  const add = group('outbox', 'mail, SMS, notifications and logout tokens on their way');
  add('list', {
    description: 'messages, the newest first: what waits, what was delivered lately, what was given up',
    options: [
      new Option('--state <STATE>', `only those that are ${outboxStates.join(', ')}`).argParser(parseState),
      new Option('--limit <N>', 'at most so many, up to 1000').argParser(parseNumber(1, 1_000)).default(50),
    ],
    json: 'print JSON; times in seconds since the epoch',
    help: '\nRecipients are masked, and what a message says is never shown.\n\nExample:\n  foyer outbox list --state dead',
    run: (options: ListOptions) => (context) => showMessages(context, options),
  });
  add('retry', {
    description: 'try dead letters again, at once and with all attempts before them',
    args: [['[id]', 'one of them']],
    options: [['--all-dead', 'all whose content is still there (two weeks)']],
    json: 'print JSON: {"retried"}',
    help: '\nMend first what `foyer outbox list --state dead` says.\n\nExamples:\n  foyer outbox retry 019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b\n  foyer outbox retry --all-dead',
    run: (id: string | undefined, { allDead = false }: { allDead?: boolean }) => {
      if ((id === undefined) !== allDead) throw usageError('name either one message or --all-dead (see --help)');
      return (context) => retryMessages(context, id);
    },
  });
}
