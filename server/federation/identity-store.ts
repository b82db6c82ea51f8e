import type { Transaction } from 'kysely';
import { type Db, type FederatedIdentityTable, isUniqueViolation, type Schema, uuidv7 } from '../store/index.ts';
import { type ProviderKind, type UpstreamIdentity, wholeName } from './identity.ts';

/** The link between a member and who they are at a provider. Times in milliseconds since the epoch. */
export interface FederatedIdentity {
  id: string;
  userId: string;
  kind: ProviderKind;
  issuer: string;
  subject: string;
  /** By which of the configured providers it was last seen. */
  provider: string;
  email: string | null;
  /** As the provider last gave it; null: it gave none, or the link is older than this column. */
  name: string | null;
  linkedAt: number;
  lastUsedAt: number | null;
}

type IdentityKey = Pick<UpstreamIdentity, 'kind' | 'issuer' | 'subject'>;

const fromRow = (row: FederatedIdentityTable): FederatedIdentity => ({
  id: row.id,
  userId: row.user_id,
  kind: row.kind as ProviderKind,
  issuer: row.issuer,
  subject: row.subject,
  provider: row.provider,
  email: row.email,
  name: row.name ?? null,
  linkedAt: row.linked_at,
  lastUsedAt: row.last_used_at,
});

/** @returns false when this identity is linked already, whoever's it is */
export async function insertIdentity(
  trx: Transaction<Schema>,
  userId: string,
  identity: UpstreamIdentity,
  nowMs: number,
  { used }: { used: boolean },
): Promise<boolean> {
  const { kind, issuer, subject, provider, email } = identity;
  if (await findIdentity(trx, { kind, issuer, subject })) return false;
  const row: FederatedIdentityTable = {
    ...{ id: uuidv7(nowMs), user_id: userId, kind, issuer, subject, provider },
    ...{ email: email ?? null, name: wholeName(identity) || null, linked_at: nowMs, last_used_at: used ? nowMs : null },
  };
  await trx.insertInto('federated_identities').values(row).execute();
  return true;
}

/** @returns false when this identity is linked already, whoever's it is, also by another transaction at the same moment */
export async function insertImportedIdentity(
  trx: Transaction<Schema>,
  userId: string,
  { kind, issuer, subject, provider, linkedAtMs }: IdentityKey & { provider: string; linkedAtMs: number },
): Promise<boolean> {
  const row: FederatedIdentityTable = {
    ...{ id: uuidv7(linkedAtMs), user_id: userId, kind, issuer, subject, provider },
    ...{ email: null, name: null, linked_at: linkedAtMs, last_used_at: null },
  };
  const inserted = await trx
    .insertInto('federated_identities')
    .values(row)
    .onConflict((conflict) => conflict.columns(['kind', 'issuer', 'subject']).doNothing())
    .returning('id')
    .execute();
  return inserted.length > 0;
}

/** Whether two transactions at once have linked the same identity. */
export const isSameIdentity = (error: unknown) => isUniqueViolation(error, 'federated_identities.subject');

export async function findIdentity(
  db: Db,
  { kind, issuer, subject }: IdentityKey,
): Promise<FederatedIdentity | undefined> {
  const row = await db
    .selectFrom('federated_identities')
    .selectAll()
    .where('kind', '=', kind)
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst();
  return row && fromRow(row);
}

/** A member's, the oldest first. */
export async function listIdentities(db: Db, userId: string): Promise<FederatedIdentity[]> {
  const rows = await db
    .selectFrom('federated_identities')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('linked_at')
    .orderBy('id')
    .execute();
  return rows.map(fromRow);
}

/** Notes that the member has come by it, and what the provider says of them now. @returns false when it is linked no more */
export async function recordIdentityUse(
  db: Db,
  id: string,
  identity: Pick<UpstreamIdentity, 'provider' | 'email' | 'givenName' | 'familyName'>,
  nowMs: number,
): Promise<boolean> {
  const { provider, email } = identity;
  const name = wholeName(identity);
  const { numUpdatedRows } = await db
    .updateTable('federated_identities')
    .set({ provider, email: email ?? null, last_used_at: nowMs, ...(name !== '' && { name }) })
    .where('id', '=', id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** @returns false when the member has no such link (any more) */
export async function removeIdentity(trx: Transaction<Schema>, userId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('federated_identities')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/**
 * Removes a link whose subject is another person's by now, unless its member has come by it again meanwhile.
 * @returns false when it is not there (any more), or was used after that moment
 */
export async function removeReusedIdentity(
  trx: Transaction<Schema>,
  { userId, id, unusedSinceMs }: { userId: string; id: string; unusedSinceMs: number },
): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('federated_identities')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<=', unusedSinceMs)]))
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Those that were linked at or after a moment (`security.md`, rule 14). Answers how many. */
export async function removeIdentitiesLinkedSince(
  trx: Transaction<Schema>,
  userId: string,
  sinceMs: number,
): Promise<number> {
  const { numDeletedRows } = await trx
    .deleteFrom('federated_identities')
    .where('user_id', '=', userId)
    .where('linked_at', '>=', sinceMs)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

export async function removeAllIdentities(trx: Transaction<Schema>, userId: string): Promise<void> {
  await trx.deleteFrom('federated_identities').where('user_id', '=', userId).execute();
}
