import { type Command, InvalidArgumentError } from 'commander';
import type { Context } from './context.ts';
import { CliError, exitCodes } from './errors.ts';
import { factorResetCommand } from './factor-resets.ts';
import { type CliIo, type Result, readAll } from './io.ts';
import { requireOption } from './require-option.ts';
import type { JsonOption, Runner } from './runner.ts';
import { userImportCommand } from './user-import.ts';
import { setUserPassword } from './user-password.ts';
import { addUser, disableUser, enableUser, showUser, showUsers } from './users.ts';

interface AddOptions extends JsonOption {
  email?: string;
  password?: string;
  passwordStdin?: boolean;
  phone?: string;
  givenName?: string;
  familyName?: string;
  verified?: boolean;
  acceptTerms?: boolean;
}

const jsonHelp = "print JSON, in OpenID Connect's claim names";

function whole(min: number, max: number) {
  return (text: string): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Write a whole number from ${min} to ${max}.`);
  };
}

async function passwordFrom(
  io: CliIo,
  { password, passwordStdin = false }: Pick<AddOptions, 'password' | 'passwordStdin'>,
): Promise<string> {
  if ((password === undefined) === !passwordStdin) {
    throw new CliError(exitCodes.usage, 'error: give the password by either --password <P> or --password-stdin');
  }
  return password ?? readAll(io.stdin);
}

function addCommand(users: Command, runner: Runner): void {
  users
    .command('add')
    .description('add a member')
    .option('--email <E>', 'the address they sign in with')
    .option('--password <P>', 'their password; other users of this machine may see it: better --password-stdin')
    .option('--password-stdin', 'read the password from standard input, so that no history keeps it')
    .option('--phone <P>', 'their number, with + and country code')
    .option('--given-name <G>', 'their first name')
    .option('--family-name <F>', 'their last name')
    .option('--verified', 'you vouch for address and number: no confirmation is asked')
    .option('--accept-terms', 'they have accepted the terms of service in force')
    .option('--json', jsonHelp)
    .addHelpText(
      'after',
      `
Needed are --email and one of the two passwords. A password has at least 8 characters, among them a number or a symbol,
does not contain the member's names or address, and is not a commonly breached one.

Examples:
  foyer user add --email ada@example.com --password-stdin --verified --accept-terms < password.txt
  foyer user add --email ada@example.com --password 'open sesame 7' --given-name Ada --family-name Lovelace`,
    )
    .action(async (options: AddOptions) => {
      requireOption(options, { email: '--email <E>' });
      const { email, phone, givenName, familyName, verified = false, acceptTerms = false } = options;
      const member = {
        email,
        password: await passwordFrom(runner.io, options),
        verified,
        acceptTerms,
        ...(phone !== undefined && { phone }),
        ...(givenName !== undefined && { givenName }),
        ...(familyName !== undefined && { familyName }),
      };
      await runner.runOnStores(options, (context) => addUser(context, member));
    });
}

function setPasswordCommand(users: Command, runner: Runner): void {
  users
    .command('set-password')
    .description('give a member a new password')
    .argument('<member>', 'e-mail address, verified phone number, or id (sub)')
    .option('--password <P>', 'the new password; other users of this machine may see it: better --password-stdin')
    .option('--password-stdin', 'read the password from standard input, so that no history keeps it')
    .option('--json', jsonHelp)
    .addHelpText(
      'after',
      `
As when members reset it themselves: all sessions, grants and tokens of the member end, known devices are forgotten, and a
mail tells the member. The same rules as for \`foyer user add\`.

Example:
  foyer user set-password ada@example.com --password-stdin < password.txt`,
    )
    .action(async (who: string, options: Pick<AddOptions, 'password' | 'passwordStdin' | 'json'>) => {
      const password = await passwordFrom(runner.io, options);
      await runner.runOnStores(options, (context) => setUserPassword(context, who, password));
    });
}

/** A command with one member as its only argument. */
interface MemberCommand {
  name: string;
  description: string;
  help: string;
  run: (context: Context, who: string) => Promise<Result>;
}

export function userCommands(program: Command, runner: Runner): void {
  const users = program.command('user').description('members');
  addCommand(users, runner);
  userImportCommand(users, runner);
  setPasswordCommand(users, runner);
  factorResetCommand(users, runner);

  users
    .command('list')
    .description('members, the oldest first')
    .option('--limit <N>', 'at most so many', whole(1, 10_000), 100)
    .option('--offset <N>', 'after so many', whole(0, 999_999_999), 0)
    .option('--json', jsonHelp)
    .addHelpText('after', '\nExample:\n  foyer user list --limit 20 --offset 40')
    .action((options: JsonOption & { limit: number; offset: number }) =>
      runner.runOnStores(options, (context) => showUsers(context, options)),
    );

  const addMemberCommand = ({ name, description, help, run }: MemberCommand) =>
    users
      .command(name)
      .description(description)
      .argument('<member>', 'e-mail address, verified phone number, or id (sub)')
      .option('--json', jsonHelp)
      .addHelpText('after', help)
      .action((who: string, options: JsonOption) => runner.runOnStores(options, (context) => run(context, who)));
  addMemberCommand({
    name: 'show',
    description: 'one member',
    help: '\nExample:\n  foyer user show ada@example.com',
    run: showUser,
  });
  addMemberCommand({
    name: 'disable',
    description: 'sign a member out everywhere and let them in no more',
    help: `
All sessions end, and all grants with every code, access token and refresh token. What a client app keeps in a session of
its own, and an id token until it expires, is out of Foyer's reach.

Example:
  foyer user disable ada@example.com`,
    run: disableUser,
  });
  addMemberCommand({
    name: 'enable',
    description: 'let a disabled member in again',
    help: '\nExample:\n  foyer user enable ada@example.com',
    run: enableUser,
  });
}
