import {
  ContactChangeRefusedError,
  changeContactByOperator,
  type OperatorContactChange,
  saveProfile,
} from '../account/index.ts';
import { readTexts, translator } from '../http/index.ts';
import { byOperator, classifyNumber, createOutbox } from '../messages/index.ts';
import { isKeyIn } from '../shared/index.ts';
import {
  AlreadyInUseError,
  findUser,
  listWithheldFields,
  normaliseEmail,
  normalisePhone,
  type ProfileChange,
  type ProfileField,
  profileFieldNames,
  profileFields,
} from '../users/index.ts';
import type { AddCommand } from './command.ts';
import type { Context } from './context.ts';
import { refused, usageError } from './errors.ts';
import type { Result } from './io.ts';
import { describeUser, memberHelp, requireUserByName, toUserJson, userJsonHelp } from './user-records.ts';

interface UpdateOptions {
  set?: string[];
  email?: string;
  emailVerified?: boolean;
  /** false: `--no-phone`. */
  phone?: string | false;
  phoneVerified?: boolean;
}

const fieldByAttribute = new Map(profileFieldNames.map((name) => [profileFields[name].attribute, name]));

interface Parsed<Value> {
  faults: string[];
  value: Value;
}

/** The attributes of `--set`, checked by the rules of the form. */
function parseProfile(texts: readonly string[], withheld: ReadonlySet<ProfileField>): Parsed<ProfileChange> {
  const faults: string[] = [];
  const typed = new Map<ProfileField, string>();
  for (const text of texts) {
    const [, attribute = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    const name = fieldByAttribute.get(attribute);
    if (attribute === '') throw usageError(`--set ${text}: write NAME=VALUE`);
    if (!name) faults.push(`${attribute}: no such attribute; there are ${[...fieldByAttribute.keys()].join(', ')}`);
    else if (withheld.has(name)) faults.push(`${attribute}: PROFILE_FIELDS does not switch it on`);
    else if (typed.has(name)) faults.push(`${attribute}: is named twice`);
    else typed.set(name, value);
  }
  const form = Object.fromEntries([...typed.keys()].map((name) => [name, profileFields[name]]));
  const { errors, values } = readTexts(form, Object.fromEntries(typed), translator('en'));
  for (const [name, error] of Object.entries(errors)) {
    if (isKeyIn(profileFields, name)) faults.push(`${profileFields[name].attribute}: ${error}`);
  }
  return { faults, value: values ?? {} };
}

async function parseContact(options: UpdateOptions): Promise<Parsed<OperatorContactChange>> {
  const faults: string[] = [];
  const email = options.email === undefined ? undefined : normaliseEmail(options.email);
  if (options.email !== undefined && email === undefined)
    faults.push(`email ${options.email}: is not an e-mail address`);
  const phone = typeof options.phone === 'string' ? normalisePhone(options.phone) : undefined;
  if (typeof options.phone === 'string' && phone === undefined)
    faults.push(`phone ${options.phone}: write + and the digits with the country code, as in +41791234567`);
  else if (phone !== undefined && (await classifyNumber(phone)).kind === 'impossible')
    faults.push(`phone ${phone}: is not a number of any country's numbering plan`);
  const { emailVerified, phoneVerified } = options;
  return { faults, value: { email, emailVerified, phone: options.phone === false ? null : phone, phoneVerified } };
}

async function updateUser(context: Context, who: string, options: UpdateOptions): Promise<Result> {
  const { config, database, kv, boxes, now } = context;
  const user = await requireUserByName(context, who);
  const withheldFields = listWithheldFields(config.PROFILE_FIELDS);
  const profile = parseProfile(options.set ?? [], withheldFields);
  const contact = await parseContact(options);
  const faults = [...profile.faults, ...contact.faults];
  if (user.phone === null && options.phone === undefined && options.phoneVerified)
    faults.push('--phone-verified: the member has no number');
  if (faults.length > 0) throw refused(faults);
  // A running Foyer delivers the mails in its next turn.
  const outbox = createOutbox({ box: boxes.outbox, now });
  const contactDeps = { outbox, publicUrl: config.PUBLIC_URL, now };
  try {
    const saved = await saveProfile({ database, kv, outbox, withheldFields, now }, user, {
      change: profile.value,
      from: byOperator,
      alongside: async (trx) => void (await changeContactByOperator(trx, contactDeps, { user, change: contact.value })),
    });
    if (saved.kind === 'refused') throw refused(['preferred_username: another member has it already']);
  } catch (error) {
    if (error instanceof AlreadyInUseError) throw refused([`${error.what}: another member has it already`]);
    if (error instanceof ContactChangeRefusedError) throw refused([error.message]);
    throw error;
  }
  const after = (await findUser(database.db, user.id)) ?? user;
  return { json: toUserJson(context, after), text: `Member ${after.email} is up to date.\n\n${describeUser(after)}` };
}

export const updateCommand = (add: AddCommand): void =>
  add('update', {
    description: "change a member's profile, address and number",
    args: [['<member>', memberHelp]],
    options: [
      ['--set <NAME=VALUE...>', 'attributes of the profile; an empty value removes one that is optional'],
      ['--email <E>', 'the new address; not verified, unless --email-verified vouches for it'],
      ['--email-verified', 'you vouch for the address'],
      ['--no-email-verified', 'the address must be confirmed again at the next sign-in'],
      ['--phone <P>', 'the new number, with + and country code; not verified, unless --phone-verified vouches for it'],
      ['--no-phone', 'remove the number'],
      ['--phone-verified', 'you vouch for the number: it signs in'],
      ['--no-phone-verified', 'the number does not sign in before the member confirms it'],
    ],
    json: userJsonHelp,
    help: `
The rules are those of the settings and of the JSON API, and all changes are made, or none. The member is told by mail
of each change of profile, address and number; the former address gets a link that undoes the change for 72 hours.
Sessions stay: \`foyer user sessions --end-all\` ends them. Plans are not changed.

Attributes: ${[...fieldByAttribute.keys()].join(', ')}.

Examples:
  foyer user update ada@example.com --set given_name=Ada family_name=King custom:companyName=
  foyer user update ada@example.com --email ada.king@example.com --email-verified
  foyer user update ada@example.com --no-phone`,
    run: (who: string, options: UpdateOptions) => {
      if (Object.keys(options).filter((name) => name !== 'json').length === 0)
        throw usageError('nothing to change; name an option');
      return (context) => updateUser(context, who, options);
    },
  });
