import { membershipClaims } from '../billing/index.ts';
import { createGrantHooks } from '../oidc/index.ts';
import { endAllSessions } from '../sessions/index.ts';
import { toUserId, type UserId } from '../shared/index.ts';
import {
  claimsByScope,
  claimsFor,
  findUser,
  findUserByIdentifier,
  parseIdentifier,
  type User,
} from '../users/index.ts';
import type { Context } from './context.ts';
import { CliError, exitCodes } from './errors.ts';
import { setSubject } from './record-command.ts';
import { facts, moment, numericDate } from './text.ts';

export const memberHelp = 'e-mail address, verified phone number, or id (sub)';
export const userJsonHelp = "print JSON, in OpenID Connect's claim names";

const allScopes = new Set(Object.keys(claimsByScope));

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

export function userState(user: User): string {
  if (user.disabledAt !== null) return 'disabled';
  return user.emailVerified ? 'active' : 'not confirmed';
}

/** @param more labels and values that follow the user's own */
export function describeUser(user: User, more: [string, string][] = []): string {
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
  setSubject({ database }, user.id);
  return user;
}

/** Ends all sessions and grants of the user. */
export async function endEverything(
  { kv, grants }: Context,
  userId: UserId,
): Promise<{ sessions: number; grants: number }> {
  const granted = await grants.count({ accountId: userId });
  return { sessions: await endAllSessions({ kv, hooks: createGrantHooks(grants) }, userId), grants: granted };
}
