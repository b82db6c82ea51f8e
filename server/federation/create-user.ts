import type { Transaction } from 'kysely';
import { isMalformed, type Language, resolveLanguage } from '../http/index.ts';
import { removeAllFactors } from '../mfa/index.ts';
import { removeAllPasskeys } from '../passkeys/index.ts';
import type { NormalisedEmail, UserId } from '../shared/index.ts';
import type { Schema } from '../store/index.ts';
import {
  AlreadyInUseError,
  claimUnverifiedUser,
  findUser,
  insertUser,
  insertUserRecord,
  maxNameLength,
  type User,
} from '../users/index.ts';
import type { FederationDeps } from './deps.ts';
import type { UpstreamIdentity } from './identity.ts';
import { isSameIdentity, removeAllIdentities } from './identity-store.ts';
import { linkCurrentIdentity } from './required-second-factor.ts';

type Deps = Pick<FederationDeps, 'database' | 'outbox' | 'hooks' | 'sessions' | 'providers' | 'now'>;

/** A provider's names follow the rules of typed ones; invalid ones are omitted. */
export function usableNames(identity: Pick<UpstreamIdentity, 'givenName' | 'familyName'>) {
  const plain = (name: string) => (isMalformed(name.trim(), maxNameLength) ? '' : name.trim());
  return { givenName: plain(identity.givenName), familyName: plain(identity.familyName) };
}

/** A parallel request was faster: the decision must be repeated. */
class ConcurrentProvisioningError extends Error {}

async function completeProvisioning(
  { hooks, providers, now }: Deps,
  trx: Transaction<Schema>,
  { userId, identity, lang }: { userId: UserId; identity: UpstreamIdentity; lang: Language },
): Promise<User> {
  await insertUserRecord(trx, userId, now());
  if (!(await linkCurrentIdentity(trx, providers, { userId, identity, nowMs: now() })))
    throw new ConcurrentProvisioningError();
  const user = await findUser(trx, userId);
  if (!user) throw new Error('a member who was just made is not there');
  await hooks.onUserCreated(trx, {
    user,
    lang,
    provider: providers.byId(identity.provider)?.name,
    flow: 'post-sign-up',
  });
  return user;
}

/** @returns undefined if a parallel request was faster, with this identity or with the address */
async function ignoreConcurrentCreation(run: () => Promise<User>): Promise<User | undefined> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ConcurrentProvisioningError || error instanceof AlreadyInUseError || isSameIdentity(error))
      return undefined;
    throw error;
  }
}

/**
 * Creates a user for whom a provider vouches: without a password, with the link, in one transaction.
 * @returns undefined if the decision must be repeated: of two tabs at once, one creates the user and the other finds
 * them
 */
export async function createUser(
  deps: Deps,
  identity: UpstreamIdentity & { email: NormalisedEmail },
  lang: Language,
): Promise<User | undefined> {
  const { database, outbox, now } = deps;
  const { email } = identity;
  const user = await ignoreConcurrentCreation(() =>
    database.transaction(async (trx) => {
      const fresh = { email, emailVerified: true, passwordHash: null, locale: lang, ...usableNames(identity) };
      const { id } = await insertUser(trx, fresh, now());
      return completeProvisioning(deps, trx, { userId: id, identity, lang });
    }),
  );
  if (!user) return undefined;
  outbox.wake();
  await deps.hooks.afterUserCreated(user.id);
  return user;
}

/**
 * Gives an unconfirmed account to the user for whom the provider vouches. Its creator keeps nothing: no password,
 * session, second factor, passkey or link.
 * @returns undefined if the decision must be repeated
 */
export async function provisionUnverifiedUser(
  deps: Deps,
  { user: found, identity, lang }: { user: User; identity: UpstreamIdentity; lang: Language },
): Promise<User | undefined> {
  const { database, outbox, sessions, now } = deps;
  // Also before: if this process dies right after the commit, almost nothing remains to end.
  await sessions.endAll(found.id);
  const user = await ignoreConcurrentCreation(() =>
    database.transaction(async (trx) => {
      if (!(await claimUnverifiedUser(trx, found, { names: usableNames(identity), nowMs: now() })))
        throw new ConcurrentProvisioningError();
      await removeAllFactors(trx, found.id, now());
      await removeAllPasskeys(trx, found.id);
      await removeAllIdentities(trx, found.id);
      const own = { userId: found.id, identity, lang: resolveLanguage(lang, found.locale ?? undefined) };
      return completeProvisioning(deps, trx, own);
    }),
  );
  if (!user) return undefined;
  outbox.wake();
  await deps.hooks.afterUserCreated(user.id);
  // A sign-in in progress sees the new epoch, or is in the list by now (sessions/).
  await sessions.endAll(user.id);
  return user;
}
