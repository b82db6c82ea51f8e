import { membershipClaims } from '../billing/index.ts';
import { loadLegalTexts, toHashing } from '../deps.ts';
import { createLog, isMalformed } from '../http/index.ts';
import { createGrantHooks, listConnectedApps } from '../oidc/index.ts';
import { createPasswordHasher, createPasswordPolicy, type PasswordFault } from '../password/index.ts';
import { countSessions, endAllSessions } from '../sessions/index.ts';
import { toUserId, type UserId } from '../shared/index.ts';
import {
  AlreadyInUseError,
  claimsByScope,
  claimsFor,
  findUser,
  findUserByIdentifier,
  fullName,
  insertUser,
  insertUserRecord,
  listUsers,
  maxNameLength,
  normaliseEmail,
  normalisePhone,
  parseIdentifier,
  recordAcceptance,
  setDisabled,
  type User,
} from '../users/index.ts';
import type { Context } from './context.ts';
import { CliError, exitCodes, refused } from './errors.ts';
import type { Result } from './io.ts';
import { signInFacts } from './sign-in-report.ts';
import { counted, facts, moment, numericDate, table } from './text.ts';

export interface NewUserInput {
  email: string;
  password: string;
  phone?: string;
  givenName?: string;
  familyName?: string;
  verified: boolean;
  acceptTerms: boolean;
}

const allScopes = new Set(Object.keys(claimsByScope));

export const passwordTexts: Record<PasswordFault, string> = {
  'too-short': 'password: must have at least 8 characters',
  'no-number-or-symbol': 'password: must contain a number or a symbol',
  'contains-personal-data': 'password: must not contain the given name, the family name or the e-mail address',
  malformed: 'password: must have at most 256 characters and no control characters',
  breached: 'password: it, or one very much like it, is on lists of stolen passwords',
};

/**
 * A user in the claim names of OpenID Connect Core 1.0, section 5.1, with Foyer's own facts. Times are NumericDates.
 */
export function toUserJson({ catalogue, now }: Context, user: User): Record<string, unknown> {
  return {
    ...claimsFor(user, allScopes, membershipClaims(catalogue(), now)(user)),
    disabled: user.disabledAt !== null,
    ...(user.disabledAt !== null && { disabled_at: numericDate(user.disabledAt) }),
    tos_version: user.acceptedTosVersion,
    created_at: numericDate(user.createdAt),
  };
}

function userState(user: User): string {
  if (user.disabledAt !== null) return 'disabled';
  return user.emailVerified ? 'active' : 'not confirmed';
}

/** The plan, the end of the trial, and the entitlements. */
function membershipFacts({ catalogue, now }: Context, user: User): [string, string][] {
  const plans = catalogue();
  const plan = plans.byId(user.planId);
  const trial =
    user.trialUntil !== null && user.trialUntil > now() ? `trial until ${moment(user.trialUntil)}` : undefined;
  const named = plan ? `${plan.name} (${plan.id}, ${plan.code})` : undefined;
  const { entitlements } = membershipClaims(plans, now)(user);
  return [
    ['Plan', [named, trial].filter(Boolean).join(', ') || 'none'],
    ['Gives', entitlements.join(' ') || 'none'],
  ];
}

function describe(user: User, more: [string, string][] = []): string {
  const verified = (is: boolean) => (is ? '(verified)' : '(not verified)');
  return facts([
    ['Member', user.id],
    ['E-mail', `${user.email} ${verified(user.emailVerified)}`],
    ['Phone', user.phone === null ? undefined : `${user.phone} ${verified(user.phoneVerified)}`],
    ['Name', [user.givenName, user.familyName].filter(Boolean).join(' ')],
    ['State', user.disabledAt === null ? userState(user) : `disabled since ${moment(user.disabledAt)}`],
    ['Terms', user.acceptedTosVersion === null ? 'not accepted' : `version ${user.acceptedTosVersion} accepted`],
    ['Created', moment(user.createdAt)],
    ['Imported', user.importedAt === null ? undefined : moment(user.importedAt)],
    ...more,
  ]);
}

/** @throws {CliError} not found */
export async function requireUserByName({ database }: Context, who: string): Promise<User> {
  const identifier = parseIdentifier(who);
  const user = identifier
    ? await findUserByIdentifier(database.db, identifier)
    : ((await findUser(database.db, toUserId(who.trim()))) ??
      (await findUser(database.db, toUserId(who.trim().toLowerCase()))));
  if (!user) throw new CliError(exitCodes.notFound, `There is no member ${who}.`);
  return user;
}

/** By the same policy as everywhere, including the configured service. */
export async function passwordFaultTexts(
  { config }: Context,
  password: string,
  personal: { email: string; givenName?: string; familyName?: string },
): Promise<string[]> {
  const policy = createPasswordPolicy({ breachedApi: config.BREACHED_PASSWORDS_API, log: createLog('silent') });
  return (await policy.faults(password, personal)).map((fault) => passwordTexts[fault]);
}

function findFaults(member: NewUserInput, email: string | undefined, phone: string | null | undefined): string[] {
  const faults: string[] = [];
  if (email === undefined) faults.push(`email ${member.email}: is not an e-mail address`);
  if (phone === undefined) {
    faults.push(`phone ${member.phone}: write + and the digits with the country code, as in +41791234567`);
  }
  for (const [flag, name = ''] of [
    ['given-name', member.givenName] as const,
    ['family-name', member.familyName] as const,
  ]) {
    if (isMalformed(name, maxNameLength)) {
      faults.push(`${flag}: write at most ${maxNameLength} characters, no control characters`);
    }
  }
  return faults;
}

export async function addUser(context: Context, member: NewUserInput): Promise<Result> {
  const { config, database, now } = context;
  const legal = loadLegalTexts(config);
  const email = normaliseEmail(member.email);
  const phone = member.phone === undefined ? null : normalisePhone(member.phone);
  const personal = { ...member, email: email ?? member.email };
  const faults = [
    ...findFaults(member, email, phone),
    ...(await passwordFaultTexts(context, member.password, personal)),
  ];
  if (faults.length > 0 || email === undefined || phone === undefined) throw refused(faults);
  const hasher = createPasswordHasher({
    queueMax: config.PASSWORD_QUEUE_MAX,
    waitMs: config.PASSWORD_QUEUE_WAIT_MS,
    ...toHashing(config),
  });
  const newUser = {
    email,
    phone,
    passwordHash: await hasher.hash(member.password, 'operator'),
    emailVerified: member.verified,
    phoneVerified: member.verified && phone !== null,
    givenName: member.givenName?.trim() ?? '',
    familyName: member.familyName?.trim() ?? '',
  };
  try {
    const user = await database.transaction(async (trx) => {
      const added = await insertUser(trx, newUser, now());
      await insertUserRecord(trx, added.id, now());
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
    return { json: toUserJson(context, user), text: `Member ${email} is added.${hint}\n\n${describe(user)}` };
  } catch (error) {
    if (!(error instanceof AlreadyInUseError)) throw error;
    throw refused([`${error.what} ${error.what === 'email' ? email : phone}: another member has it already`]);
  }
}

export async function showUsers(
  context: Context,
  { limit, offset }: { limit: number; offset: number },
): Promise<Result> {
  const { database, io } = context;
  const found = await listUsers(database.db, { limit: limit + 1, offset });
  const users = found.slice(0, limit);
  if (found.length > limit) io.stderr.write(`There are more: --offset ${offset + limit}\n`);
  const rows = users.map((user) => [
    user.email,
    user.givenName || user.familyName ? fullName(user) : '',
    user.phone ?? '',
    userState(user),
    moment(user.createdAt),
    user.id,
  ]);
  const text = rows.length > 0 ? table(['e-mail', 'name', 'phone', 'state', 'created', 'member'], rows) : 'No members.';
  return { json: users.map((user) => toUserJson(context, user)), text };
}

export async function showUser(context: Context, who: string): Promise<Result> {
  const user = await requireUserByName(context, who);
  const [sessions, grants, signIn, apps] = await Promise.all([
    countSessions(context.kv, user.id),
    context.grants.count({ accountId: user.id }),
    signInFacts(context, user),
    listConnectedApps(context.database.db, user.id, context.now()),
  ]);
  const text = describe(user, [
    ...membershipFacts(context, user),
    ...signIn.facts,
    ['Sessions', `${sessions} open`],
    ['Grants', `${grants} to client apps`],
    ['Connected apps', apps.map(({ clientId }) => clientId).join(' ')],
  ]);
  return {
    json: {
      ...toUserJson(context, user),
      ...signIn.json,
      sessions,
      grants,
      connected_apps: apps.map(({ clientId }) => clientId),
    },
    text,
  };
}

/** Ends all sessions and grants of the user. */
export async function endEverything(
  { kv, grants }: Context,
  userId: UserId,
): Promise<{ sessions: number; grants: number }> {
  const args = await grants.count({ accountId: userId });
  return { sessions: await endAllSessions({ kv, hooks: createGrantHooks(grants) }, userId), grants: args };
}

export async function disableUser(context: Context, who: string): Promise<Result> {
  const { database, now } = context;
  const user = await requireUserByName(context, who);
  // First the mark, then the end, so that no sign-in is possible in between. A second call completes an interrupted
  // one.
  const disabledAt = user.disabledAt ?? now();
  await setDisabled(database.db, user.id, { disabledAt, nowMs: now() });
  const ended = await endEverything(context, user.id);
  const already = user.disabledAt === null ? 'is disabled' : `was disabled already, since ${moment(disabledAt)}`;
  return {
    json: { ...toUserJson(context, { ...user, disabledAt }), ended },
    text: `Member ${user.email} ${already}. Ended: ${counted(ended.sessions, 'session')}, ${counted(ended.grants, 'grant')} to client apps with all tokens.`,
  };
}

export async function enableUser(context: Context, who: string): Promise<Result> {
  const { database, now } = context;
  const user = await requireUserByName(context, who);
  if (user.disabledAt !== null) {
    // A sign-in that ran while the user was being disabled must not become valid now.
    await endEverything(context, user.id);
    await setDisabled(database.db, user.id, { disabledAt: null, nowMs: now() });
  }
  const text = user.disabledAt === null ? 'was not disabled' : 'is enabled and can sign in again';
  return { json: toUserJson(context, { ...user, disabledAt: null }), text: `Member ${user.email} ${text}.` };
}
