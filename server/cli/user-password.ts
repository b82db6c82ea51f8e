import { toHashing } from '../deps.ts';
import { createLog } from '../http/index.ts';
import { createOutbox } from '../messages/index.ts';
import {
  createPasswordHasher,
  createPasswordPolicy,
  type PasswordFault,
  type PasswordHasher,
  replacePassword,
} from '../password/index.ts';
import type { UserId } from '../shared/index.ts';
import type { AddCommand } from './command.ts';
import type { Context } from './context.ts';
import { refused, usageError } from './errors.ts';
import { type CliIo, type Result, readAll } from './io.ts';
import { counted } from './text.ts';
import { endEverything, memberHelp, requireUserByName, toUserJson, userJsonHelp } from './user-records.ts';

export interface PasswordOptions {
  password?: string;
  passwordStdin?: boolean;
}

const passwordTexts: Record<PasswordFault, string> = {
  'too-short': 'password: must have at least 8 characters',
  'no-number-or-symbol': 'password: must contain a number or a symbol',
  'contains-personal-data': 'password: must not contain the given name, the family name or the e-mail address',
  malformed: 'password: must have at most 256 characters and no control characters',
  breached: 'password: it, or one very much like it, is on lists of stolen passwords',
};

/** By the same policy as everywhere, including the configured service. */
export async function passwordFaultTexts(
  { config }: Context,
  password: string,
  personal: { email: string; givenName?: string; familyName?: string },
): Promise<string[]> {
  const policy = createPasswordPolicy({ breachedApi: config.BREACHED_PASSWORDS_API, log: createLog('silent') });
  return (await policy.faults(password, personal)).map((fault) => passwordTexts[fault]);
}

export function createHasher({ config }: Context): PasswordHasher {
  return createPasswordHasher({
    queueMax: config.PASSWORD_QUEUE_MAX,
    waitMs: config.PASSWORD_QUEUE_WAIT_MS,
    ...toHashing(config),
  });
}

export async function passwordFrom(io: CliIo, { password, passwordStdin = false }: PasswordOptions): Promise<string> {
  if ((password === undefined) === !passwordStdin) {
    throw usageError('give the password by either --password <P> or --password-stdin');
  }
  return password ?? readAll(io.stdin);
}

/**
 * Sets a user's password with the rule of a reset: all sessions end, devices are forgotten, a mail notifies the user.
 */
async function setUserPassword(context: Context, who: string, password: string): Promise<Result> {
  const { database, boxes, now } = context;
  const user = await requireUserByName(context, who);
  const faults = await passwordFaultTexts(context, password, user);
  if (user.disabledAt !== null) faults.push(`${user.email}: is disabled; enable the member first`);
  if (faults.length > 0) throw refused(faults);
  const passwords = createHasher(context);
  const ended = { sessions: 0, grants: 0 };
  const sessions = {
    async endAll(userId: UserId) {
      const more = await endEverything(context, userId);
      ended.sessions += more.sessions;
      ended.grants += more.grants;
    },
  };
  // A running Foyer delivers the mail in its next turn.
  const outbox = createOutbox({ box: boxes.outbox, now });
  const replaced = await replacePassword({ database, passwords, outbox, sessions, now }, user, {
    password,
    lang: 'en',
  });
  if (!replaced) throw refused([`${user.email}: changed while this ran; try again`]);
  return {
    json: { ...toUserJson(context, replaced), ended },
    text: `Member ${user.email} has a new password, and is told so by mail. Ended: ${counted(ended.sessions, 'session')}, ${counted(ended.grants, 'grant')} to client apps with all tokens.`,
  };
}

export const setPasswordCommand = (add: AddCommand, io: CliIo): void =>
  add('set-password', {
    description: 'give a member a new password',
    args: [['<member>', memberHelp]],
    options: [
      ['--password <P>', 'the new password; other users of this machine may see it: better --password-stdin'],
      ['--password-stdin', 'read the password from standard input, so that no history keeps it'],
    ],
    json: userJsonHelp,
    help: `
As when members reset it themselves: all sessions, grants and tokens of the member end, known devices are forgotten, and a
mail tells the member. The same rules as for \`foyer user add\`.

Example:
  foyer user set-password ada@example.com --password-stdin < password.txt`,
    run: async (who: string, options: PasswordOptions) => {
      const password = await passwordFrom(io, options);
      return (context) => setUserPassword(context, who, password);
    },
  });
