import type { Transaction } from 'kysely';
import { findUser, setSecondFactorRequired } from '../account/index.ts';
import type { Schema } from '../store/index.ts';
import type { UpstreamIdentity } from './identity.ts';
import { insertIdentity, listIdentities } from './identity-store.ts';
import type { Providers } from './providers.ts';

/**
 * Whether a member must have a second factor here is what the providers that are linked with them say. Asked anew whenever
 * they come by one, and when a link is made or removed.
 */
export async function settleSecondFactor(
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
export async function linkWhoCame(
  trx: Transaction<Schema>,
  providers: Pick<Providers, 'byId'>,
  userId: string,
  identity: UpstreamIdentity,
  nowMs: number,
): Promise<boolean> {
  if (!(await insertIdentity(trx, userId, identity, nowMs, { used: true }))) return false;
  await settleSecondFactor(trx, providers, userId, nowMs);
  return true;
}
