import { isMalformed } from '../http/index.ts';
import { loadLegalTexts } from '../load-settings.ts';
import {
  AlreadyInUseError,
  insertUser,
  insertUserRecord,
  maxNameLength,
  normaliseEmail,
  normalisePhone,
  recordAcceptance,
} from '../users/index.ts';
import type { AddCommand } from './command.ts';
import type { Context } from './context.ts';
import { refused } from './errors.ts';
import type { CliIo, Result } from './io.ts';
import { requireOption } from './require-option.ts';
import { present } from './text.ts';
import { openTrials } from './trials.ts';
import { createHasher, type PasswordOptions, passwordFaultTexts, passwordFrom } from './user-password.ts';
import { describeUser, toUserJson, userJsonHelp } from './user-records.ts';

interface AddOptions extends PasswordOptions {
  email?: string;
  phone?: string;
  givenName?: string;
  familyName?: string;
  verified?: boolean;
  acceptTerms?: boolean;
  trial?: boolean;
}

interface NewUserInput extends AddOptions {
  email: string;
  password: string;
}

function findFaults(member: NewUserInput, email: string | undefined, phone: string | null | undefined): string[] {
  const nameFault = (flag: string, name = '') =>
    isMalformed(name, maxNameLength) && `${flag}: write at most ${maxNameLength} characters, no control characters`;
  return present(
    email === undefined && `email ${member.email}: is not an e-mail address`,
    phone === undefined && `phone ${member.phone}: write + and the digits with the country code, as in +41791234567`,
    nameFault('given-name', member.givenName),
    nameFault('family-name', member.familyName),
  );
}

async function addUser(context: Context, member: NewUserInput): Promise<Result> {
  const { config, database, now } = context;
  const { verified = false } = member;
  const startTrial = member.trial ? await openTrials(context) : undefined;
  const legal = loadLegalTexts(config);
  const email = normaliseEmail(member.email);
  const phone = member.phone === undefined ? null : normalisePhone(member.phone);
  const personal = { ...member, email: email ?? member.email };
  const faults = [
    ...findFaults(member, email, phone),
    ...(await passwordFaultTexts(context, member.password, personal)),
  ];
  if (faults.length > 0 || email === undefined || phone === undefined) throw refused(faults);
  const newUser = {
    email,
    phone,
    passwordHash: await createHasher(context).hash(member.password, 'operator'),
    emailVerified: verified,
    phoneVerified: verified && phone !== null,
    givenName: member.givenName?.trim() ?? '',
    familyName: member.familyName?.trim() ?? '',
  };
  try {
    const user = await database.transaction(async (trx) => {
      const added = await insertUser(trx, newUser, now());
      await insertUserRecord(trx, added.id, now());
      // An unconfirmed address gets it with its code.
      if (verified) await startTrial?.(trx, added);
      if (!member.acceptTerms) return added;
      // The operator vouches for it: the ledger has no address then.
      const from = { ip: null, userAgent: 'foyer user add', clientId: null };
      const { lang, hash } = legal.terms('en');
      const { number, label } = legal.version;
      const acceptance = { userId: added.id, version: number, label, lang, textHash: hash, ...from };
      await recordAcceptance(trx, acceptance, now());
      return { ...added, acceptedTosVersion: number, acceptedTosAt: now() };
    });
    const hint = user.emailVerified
      ? ''
      : '\nThe e-mail address is not confirmed: signing in waits for that (--verified vouches for it).';
    return { json: toUserJson(context, user), text: `Member ${email} is added.${hint}\n\n${describeUser(user)}` };
  } catch (error) {
    if (!(error instanceof AlreadyInUseError)) throw error;
    throw refused([`${error.what} ${error.what === 'email' ? email : phone}: another member has it already`]);
  }
}

export const addCommand = (add: AddCommand, io: CliIo): void =>
  add('add', {
    description: 'add a member',
    options: [
      ['--email <E>', 'the address they sign in with'],
      ['--password <P>', 'their password; other users of this machine may see it: better --password-stdin'],
      ['--password-stdin', 'read the password from standard input, so that no history keeps it'],
      ['--phone <P>', 'their number, with + and country code'],
      ['--given-name <G>', 'their first name'],
      ['--family-name <F>', 'their last name'],
      ['--verified', 'you vouch for address and number: no confirmation is asked'],
      ['--accept-terms', 'they have accepted the terms of service in force'],
      ['--trial', 'their trial begins now; by default when they first open a page of the plans'],
    ],
    json: userJsonHelp,
    help: `
Needed are --email and one of the two passwords. A password has at least 8 characters, among them a number or a symbol,
does not contain the member's names or address, and is not a commonly breached one.

Examples:
  foyer user add --email ada@example.com --password-stdin --verified --accept-terms < password.txt
  foyer user add --email ada@example.com --password 'open sesame 7' --given-name Ada --family-name Lovelace`,
    run: async (options: AddOptions) => {
      requireOption(options, { email: '--email <E>' });
      const password = await passwordFrom(io, options);
      return (context) => addUser(context, { ...options, password });
    },
  });
