import type { Transaction } from 'kysely';
import type { ProviderId, UserId } from '../shared/index.ts';
import { type Db, isUniqueViolation, type Row, type Schema, uuidv7 } from '../store/index.ts';
import { type UpstreamIdentity, wholeName } from './identity.ts';

/** The link between a user and their identity at a provider. Times in milliseconds since the epoch. */
export type FederatedIdentity = Row<'federatedIdentities'>;

type IdentityKey = Pick<UpstreamIdentity, 'kind' | 'issuer' | 'subject'>;

export interface NewIdentity {
  userId: UserId;
  identity: UpstreamIdentity;
  nowMs: number;
  /** The identity signs in with this link now. */
  used: boolean;
}

/** @returns false if this identity is already linked to any user */
export async function insertIdentity(
  trx: Transaction<Schema>,
  { userId, identity, nowMs, used }: NewIdentity,
): Promise<boolean> {
  const { kind, issuer, subject, provider, email } = identity;
  if (await findIdentity(trx, { kind, issuer, subject })) return false;
  await trx
    .insertInto('federatedIdentities')
    .values({
      id: uuidv7(nowMs),
      userId,
      kind,
      issuer,
      subject,
      provider,
      email: email ?? null,
      name: wholeName(identity) || null,
      linkedAt: nowMs,
      lastUsedAt: used ? nowMs : null,
    })
    .execute();
  return true;
}

/** @returns false if this identity is already linked to any user, also by a parallel transaction */
export async function insertImportedIdentity(
  trx: Transaction<Schema>,
  userId: UserId,
  { kind, issuer, subject, provider, linkedAtMs }: IdentityKey & { provider: ProviderId; linkedAtMs: number },
): Promise<boolean> {
  const inserted = await trx
    .insertInto('federatedIdentities')
    .values({ id: uuidv7(linkedAtMs), userId, kind, issuer, subject, provider, linkedAt: linkedAtMs })
    .onConflict((conflict) => conflict.columns(['kind', 'issuer', 'subject']).doNothing())
    .returning('id')
    .execute();
  return inserted.length > 0;
}

/** Tests whether two parallel transactions have linked the same identity. */
export const isSameIdentity = (error: unknown) => isUniqueViolation(error, 'federated_identities.subject');

export async function findIdentity(
  db: Db,
  { kind, issuer, subject }: IdentityKey,
): Promise<FederatedIdentity | undefined> {
  return db
    .selectFrom('federatedIdentities')
    .selectAll()
    .where('kind', '=', kind)
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst();
}

/** The links of a user, the oldest first. */
export async function listIdentities(db: Db, userId: UserId): Promise<FederatedIdentity[]> {
  return db
    .selectFrom('federatedIdentities')
    .selectAll()
    .where('userId', '=', userId)
    .orderBy('linkedAt')
    .orderBy('id')
    .execute();
}

interface IdentityUse {
  /** Of the link. */
  id: string;
  identity: Pick<UpstreamIdentity, 'provider' | 'email' | 'givenName' | 'familyName'>;
  nowMs: number;
}

/** Records a use, and the provider's latest data. @returns false if it is no longer linked */
export async function recordIdentityUse(db: Db, { id, identity, nowMs }: IdentityUse): Promise<boolean> {
  const { provider, email } = identity;
  const name = wholeName(identity);
  const { numUpdatedRows } = await db
    .updateTable('federatedIdentities')
    .set({ provider, email: email ?? null, lastUsedAt: nowMs, ...(name !== '' && { name }) })
    .where('id', '=', id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** @returns false if the user has no such link (any more) */
export async function removeIdentity(trx: Transaction<Schema>, userId: UserId, id: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('federatedIdentities')
    .where('userId', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/**
 * Removes a link whose subject now belongs to another person, unless its user has used it again meanwhile.
 * @returns false if it does not exist (any more), or was used after that time
 */
export async function removeReusedIdentity(
  trx: Transaction<Schema>,
  { userId, id, unusedSinceMs }: { userId: UserId; id: string; unusedSinceMs: number },
): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('federatedIdentities')
    .where('userId', '=', userId)
    .where('id', '=', id)
    .where((eb) => eb.or([eb('lastUsedAt', 'is', null), eb('lastUsedAt', '<=', unusedSinceMs)]))
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Removes links made at or after a time (`security.md`, rule 14). Returns the number. */
export async function removeIdentitiesLinkedSince(
  trx: Transaction<Schema>,
  userId: UserId,
  sinceMs: number,
): Promise<number> {
  const { numDeletedRows } = await trx
    .deleteFrom('federatedIdentities')
    .where('userId', '=', userId)
    .where('linkedAt', '>=', sinceMs)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

export async function removeAllIdentities(trx: Transaction<Schema>, userId: UserId): Promise<void> {
  await trx.deleteFrom('federatedIdentities').where('userId', '=', userId).execute();
}
