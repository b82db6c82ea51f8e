import type { Transaction } from 'kysely';
import type { Schema } from '../store/index.ts';
import { findUser, setSecondFactorRequired } from '../users/index.ts';
import type { UpstreamIdentity } from './identity.ts';
import { findIdentity, insertIdentity, listIdentities, recordIdentityUse } from './identity-store.ts';
import type { PendingLink } from './pending-links.ts';
import type { Providers } from './providers.ts';

/**
 * Whether a member must have a second factor here is what the providers that are linked with them say. Asked anew whenever
 * they come by one, and when a link is made or removed.
 */
export async function updateRequiredSecondFactor(
  trx: Transaction<Schema>,
  providers: Pick<Providers, 'byId'>,
  userId: string,
  nowMs: number,
): Promise<void> {
  const links = await listIdentities(trx, userId);
  const required = links.some(({ provider }) => providers.byId(provider)?.secondFactor === 'required');
  const user = await findUser(trx, userId);
  if (user && user.secondFactorRequired !== required) await setSecondFactorRequired(trx, userId, required, nowMs);
}

/** Links who somebody is at a provider, by which they come at this moment. @returns false when it is linked already, whoever's it is */
export async function linkCurrentIdentity(
  trx: Transaction<Schema>,
  providers: Pick<Providers, 'byId'>,
  userId: string,
  identity: UpstreamIdentity,
  nowMs: number,
): Promise<boolean> {
  if (!(await insertIdentity(trx, userId, identity, nowMs, { used: true }))) return false;
  await updateRequiredSecondFactor(trx, providers, userId, nowMs);
  return true;
}

/**
 * Makes the link of an offer, or keeps the one that its member has just proven, with what the provider says of them now.
 * @returns false when the identity is linked to another member
 */
export async function linkOrKeep(
  trx: Transaction<Schema>,
  providers: Pick<Providers, 'byId'>,
  { userId, identity, linkId }: Pick<PendingLink, 'userId' | 'identity' | 'linkId'>,
  nowMs: number,
): Promise<boolean> {
  const link = linkId === undefined ? undefined : await findIdentity(trx, identity);
  if (link?.userId === userId) return recordIdentityUse(trx, link.id, identity, nowMs);
  return linkCurrentIdentity(trx, providers, userId, identity, nowMs);
}
