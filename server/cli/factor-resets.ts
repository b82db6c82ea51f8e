import { cancelFactorReset, type FactorReset, listPendingResets, requestFactorReset } from '../account/index.ts';
import { isSmsOffered } from '../deps.ts';
import { createOutbox } from '../messages/index.ts';
import { hourMs } from '../shared/index.ts';
import { findUser } from '../users/index.ts';
import type { AddCommand } from './command.ts';
import type { Context } from './context.ts';
import { CliError, exitCodes, refused, usageError } from './errors.ts';
import type { Result } from './io.ts';
import { moment, numericDate, table } from './text.ts';
import { memberHelp, requireUserByName } from './user-records.ts';

const maxListed = 1_000;

/** A running Foyer delivers the messages in its next turn. */
const resetDeps = ({ config, database, boxes, now }: Context) => ({
  database,
  outbox: createOutbox({ box: boxes.outbox, now }),
  publicUrl: config.PUBLIC_URL,
  brandName: config.BRAND_NAME,
  now,
});

const resetJson = ({ userId, requestedAt, dueAt }: FactorReset) => ({
  sub: userId,
  requested_at: numericDate(requestedAt),
  due_at: numericDate(dueAt),
});

/** Removes a user's second factor, after a period in which the user can cancel it. */
async function resetFactors(context: Context, who: string): Promise<Result> {
  const { config } = context;
  const user = await requireUserByName(context, who);
  const waitMs = config.MFA_RESET_WAIT_HOURS * hourMs;
  const requested = await requestFactorReset(resetDeps(context), user.id, { waitMs, bySms: isSmsOffered(config) });
  switch (requested.kind) {
    case 'not-found':
      throw new CliError(exitCodes.notFound, `There is no member ${who}.`);
    case 'no-change':
      throw refused([`${user.email}: has no second factor`]);
    case 'waiting':
      throw refused([`${user.email}: a reset waits already, and happens on ${moment(requested.reset.dueAt)}`]);
    case 'asked':
      return {
        json: resetJson(requested.reset),
        text: `The second factor of ${user.email} is taken away on ${moment(requested.reset.dueAt)}, unless they say no. They are told now.`,
      };
  }
}

async function cancelFactorResetByName(context: Context, who: string): Promise<Result> {
  const user = await requireUserByName(context, who);
  if (!(await cancelFactorReset(resetDeps(context), user.id))) throw refused([`${user.email}: no reset waits`]);
  return {
    json: { sub: user.id, cancelled: true },
    text: `The second factor of ${user.email} stays. They are told so by mail.`,
  };
}

async function showResets({ database }: Context): Promise<Result> {
  const resets = await listPendingResets(database.db, { max: maxListed });
  const rows = await Promise.all(
    resets.map(async ({ userId, requestedAt, dueAt }) => {
      const user = await findUser(database.db, userId);
      return [user?.email ?? '', moment(requestedAt), moment(dueAt), userId];
    }),
  );
  const text = table(['e-mail', 'asked', 'due', 'member'], rows, 'No reset waits.');
  return { json: resets.map(resetJson), text };
}

interface ResetOptions {
  list?: boolean;
  cancel?: boolean;
}

export function factorResetCommand(add: AddCommand): void {
  add('reset-mfa', {
    description: 'take the second factor away from a member who has lost it',
    args: [['[member]', memberHelp]],
    options: [
      ['--list', 'the resets that wait'],
      ['--cancel', "the member's second factor stays"],
    ],
    json: 'print JSON; times are NumericDates',
    help: `
First make sure by other means that it is the member who asks. Nothing is taken away at once: the member is told by mail, by text
message and by a notification, and can say no by the link in them, or in the settings. When MFA_RESET_WAIT_HOURS have
passed, app and recovery codes are removed, remembered devices are forgotten, all sessions end, and a mail tells the
member. The password and passkeys stay.

Examples:
  foyer user reset-mfa ada@example.com
  foyer user reset-mfa --list
  foyer user reset-mfa ada@example.com --cancel`,
    run: (who: string | undefined, { list = false, cancel = false }: ResetOptions) => {
      if (list && (cancel || who !== undefined)) throw usageError('--list stands alone');
      if (list) return showResets;
      if (who === undefined) throw usageError("missing required argument 'member'");
      return (context) => (cancel ? cancelFactorResetByName(context, who) : resetFactors(context, who));
    },
  });
}
