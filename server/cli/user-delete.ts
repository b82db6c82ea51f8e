import { Option } from 'commander';
import { createDeletionDeps, eraseNow, requestDeletion, waitDays } from '../account/index.ts';
import { type CancellationTiming, subscriptionOnDeletion } from '../billing/index.ts';
import { createLog } from '../http/index.ts';
import { byOperator, createOutbox } from '../messages/index.ts';
import { higherDataSources } from '../personal-data-sources.ts';
import { listSessions } from '../sessions/index.ts';
import type { User } from '../users/index.ts';
import type { AddCommand } from './command.ts';
import type { Context } from './context.ts';
import { refused } from './errors.ts';
import { type CliIo, type Result, readLine } from './io.ts';
import { forgetSubject } from './record-command.ts';
import { moment, numericDate } from './text.ts';
import { endEverything, memberHelp, requireUserByName } from './user-records.ts';

interface DeleteOptions {
  now?: boolean;
  yes?: boolean;
  membership: CancellationTiming;
}

/** The flow of the page, without its job. */
function deletionDeps(context: Context) {
  const { config, database, kv, boxes, catalogue, now } = context;
  // A running Foyer delivers the mail in its next turn, and does the tasks at Stripe.
  const outbox = createOutbox({ box: boxes.outbox, now });
  return createDeletionDeps({
    publicUrl: config.PUBLIC_URL,
    brandName: config.BRAND_NAME,
    database,
    kv,
    outbox,
    outboxBox: boxes.outbox,
    sessions: {
      endAll: async (userId) => (await endEverything(context, userId)).sessions,
      list: (userId) => listSessions(kv, userId),
    },
    personalDataSources: higherDataSources({ database, outbox, now }),
    membership: subscriptionOnDeletion(database, catalogue()),
    log: createLog('silent'),
    now,
  });
}

/** @throws {CliError} the operator has typed something else */
async function confirm({ stdin, stderr }: CliIo, { email }: User): Promise<void> {
  stderr.write(`All data of ${email} are erased now; nothing brings them back.\nType the e-mail address to go on: `);
  if ((await readLine(stdin)).trim().toLowerCase() !== email)
    throw refused([`${email}: not confirmed; nothing is changed`]);
}

async function deleteUser(context: Context, who: string, options: DeleteOptions): Promise<Result> {
  const user = await requireUserByName(context, who);
  if (user.disabledAt !== null) throw refused([`${user.email}: is disabled; enable the member first`]);
  const { now = false, yes = false } = options;
  if (now && !yes) await confirm(context.io, user);
  const deps = deletionDeps(context);
  const requested = await requestDeletion(deps, user, {
    timing: now ? 'at-once' : options.membership,
    from: byOperator,
  });
  if (requested.kind === 'not-found') throw refused([`${user.email}: changed while this ran; try again`]);
  if (!now) {
    return {
      json: { sub: user.id, due_at: numericDate(requested.dueAtMs), erased: false },
      text: `Member ${user.email} is signed out everywhere, and is erased on ${moment(requested.dueAtMs)}, unless they sign in before. They are told by mail.`,
    };
  }
  if (!(await eraseNow(deps, user.id))) throw refused([`${user.email}: has signed in meanwhile; try again`]);
  forgetSubject(context);
  return {
    json: { sub: user.id, due_at: numericDate(context.now()), erased: true },
    text: `Member ${user.id} is erased. A running Foyer ends the subscription and deletes the customer at Stripe within minutes.`,
  };
}

export const deleteCommand = (add: AddCommand): void =>
  add('delete', {
    description: 'delete the account of a member, as they can in the settings',
    args: [['<member>', memberHelp]],
    options: [
      new Option('--membership <END>', 'when a paid plan ends')
        .choices(['period-end', 'at-once'])
        .default('period-end'),
      ['--now', `erase at once, without the wait of ${waitDays} days and without a mail; a paid plan ends at once`],
      ['--yes', 'do not ask for confirmation of --now'],
    ],
    json: 'print JSON: {"sub", "due_at", "erased"}',
    help: `
First make sure by other means that it is the member who asks. All sessions and grants end, a mail tells the member, and
after ${waitDays} days a running Foyer erases all data; a sign-in before cancels it. With --now they are erased by this
command, and nothing brings them back. The subscription ends at Stripe, and the customer is deleted there, by tasks of a
running Foyer. A disabled member is refused: enable them first.

Examples:
  foyer user delete ada@example.com
  foyer user delete ada@example.com --now`,
    run: (who: string, options: DeleteOptions) => (context) => deleteUser(context, who, options),
  });
