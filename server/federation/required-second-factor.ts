import type { Transaction } from 'kysely';
import type { UserId } from '../shared/index.ts';
import type { Schema } from '../store/index.ts';
import { findUser, setSecondFactorRequired } from '../users/index.ts';
import { findIdentity, insertIdentity, listIdentities, type NewIdentity, recordIdentityUse } from './identity-store.ts';
import type { PendingLink } from './pending-links.ts';
import type { Providers } from './providers.ts';

/**
 * The linked providers decide whether a user must have a second factor. Updated at each use, and when a link is made or
 * removed.
 */
export async function updateRequiredSecondFactor(
  trx: Transaction<Schema>,
  providers: Pick<Providers, 'byId'>,
  { userId, nowMs }: { userId: UserId; nowMs: number },
): Promise<void> {
  const links = await listIdentities(trx, userId);
  const required = links.some(({ provider }) => providers.byId(provider)?.secondFactor === 'required');
  const user = await findUser(trx, userId);
  if (user && user.secondFactorRequired !== required) await setSecondFactorRequired(trx, userId, { required, nowMs });
}

/** Links the identity of the current sign-in. @returns false if it is already linked to any user */
export async function linkCurrentIdentity(
  trx: Transaction<Schema>,
  providers: Pick<Providers, 'byId'>,
  current: Omit<NewIdentity, 'used'>,
): Promise<boolean> {
  if (!(await insertIdentity(trx, { ...current, used: true }))) return false;
  await updateRequiredSecondFactor(trx, providers, current);
  return true;
}

/**
 * Makes the pending link, or confirms the existing one that its user has just proven, with the provider's latest data.
 * @returns false if the identity is linked to another user
 */
export async function linkOrKeep(
  trx: Transaction<Schema>,
  providers: Pick<Providers, 'byId'>,
  { userId, identity, linkId, nowMs }: Pick<PendingLink, 'userId' | 'identity' | 'linkId'> & { nowMs: number },
): Promise<boolean> {
  const link = linkId === undefined ? undefined : await findIdentity(trx, identity);
  if (link?.userId === userId) return recordIdentityUse(trx, { id: link.id, identity, nowMs });
  return linkCurrentIdentity(trx, providers, { userId, identity, nowMs });
}
