import { type ListedMessage, listMessages, type OutboxState, retryFailed } from '../messages/index.ts';
import type { Context } from './context.ts';
import { CliError, exitCodes } from './errors.ts';
import type { Result } from './io.ts';
import { counted, moment, numericDate, table } from './text.ts';

const seconds = (ms: number | null) => (ms === null ? null : numericDate(ms));

function toJson(message: ListedMessage) {
  const { id, channel, template, recipient, group_id: group, state, attempts, last_error, retriable } = message;
  return {
    id,
    channel,
    template,
    recipient,
    group,
    state,
    attempts,
    last_error,
    created_at: seconds(message.created_at),
    next_attempt_at: state === 'waiting' ? seconds(message.next_attempt_at) : null,
    finished_at: seconds(message.finished_at),
    retriable,
  };
}

export async function showMessages(
  { database }: Context,
  expected: { state?: OutboxState; limit: number },
): Promise<Result> {
  const messages = await listMessages(database.db, expected);
  const rows = messages.map(({ id, created_at, channel, template, recipient, state, attempts, last_error }) => [
    id,
    moment(created_at),
    channel === template ? channel : `${channel}: ${template}`,
    recipient,
    state,
    String(attempts),
    last_error ?? '',
  ]);
  const headings = ['id', 'written', 'what', 'to', 'state', 'attempts', 'last error'];
  return {
    json: messages.map(toJson),
    text: rows.length > 0 ? table(headings, rows) : 'No such messages.',
  };
}

/** @param id undefined: all dead letters that still have their content */
export async function retryMessages({ database, now }: Context, id: string | undefined): Promise<Result> {
  const retried = await retryFailed(database.db, id, now());
  if (retried === 0 && id !== undefined) {
    throw new CliError(exitCodes.notFound, `There is no dead letter ${id} whose content is still there.`);
  }
  const text = `${counted(retried, 'message')} ${retried === 1 ? 'waits' : 'wait'} again: a running Foyer tries within seconds.`;
  return { json: { retried }, text };
}
