import type { Transaction } from 'kysely';
import { isMalformed, type Language, resolveLanguage } from '../http/index.ts';
import { removeAllFactors } from '../mfa/index.ts';
import { removeAllPasskeys } from '../passkeys/index.ts';
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

type Deps = Pick<FederationDeps, 'database' | 'outbox' | 'sessions' | 'providers' | 'now'>;

/** A provider's names are kept by the rules of those that are typed; what breaks them is left out. */
export function usableNames(identity: Pick<UpstreamIdentity, 'givenName' | 'familyName'>) {
  const plain = (name: string) => (isMalformed(name.trim(), maxNameLength) ? '' : name.trim());
  return { givenName: plain(identity.givenName), familyName: plain(identity.familyName) };
}

/** Somebody else was quicker: it has to be decided anew. */
class ConcurrentProvisioningError extends Error {}

async function completeProvisioning(
  { outbox, providers, now }: Deps,
  trx: Transaction<Schema>,
  { userId, identity, lang }: { userId: string; identity: UpstreamIdentity; lang: Language },
): Promise<User> {
  await insertUserRecord(trx, userId, now());
  if (!(await linkCurrentIdentity(trx, providers, userId, identity, now()))) throw new ConcurrentProvisioningError();
  const user = await findUser(trx, userId);
  if (!user) throw new Error('a member who was just made is not there');
  const { email, givenName } = user;
  const provider = providers.byId(identity.provider)?.name;
  const values = { givenName, ...(provider !== undefined && { provider }) };
  await outbox.add(trx, { channel: 'mail', to: email, template: 'welcome', lang, values });
  return user;
}

/** @returns undefined when somebody was quicker: with this identity, or with the address */
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
 * A member whom a provider vouches for: without a password, with the link, in one transaction.
 * @returns undefined when it has to be decided anew: of two tabs at once, one makes the member and the other finds them
 */
export async function createUser(
  deps: Deps,
  identity: UpstreamIdentity & { email: string },
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
  if (user) outbox.wake();
  return user;
}

/**
 * An account that nobody has confirmed becomes that of the person whom the provider vouches for. Whoever made it keeps
 * nothing in it: no password, no session, no second factor, passkey or link.
 * @returns undefined when it has to be decided anew
 */
export async function provisionUnverifiedUser(
  deps: Deps,
  found: User,
  identity: UpstreamIdentity,
  lang: Language,
): Promise<User | undefined> {
  const { database, outbox, sessions, now } = deps;
  // Before as well: should this process die right after the commit, next to nothing is left to end.
  await sessions.endAll(found.id);
  const user = await ignoreConcurrentCreation(() =>
    database.transaction(async (trx) => {
      if (!(await claimUnverifiedUser(trx, found, usableNames(identity), now())))
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
  // A sign-in that is under way sees the new epoch, or stands in the list by now (session/).
  await sessions.endAll(user.id);
  return user;
}
