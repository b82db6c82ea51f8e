import type { Kysely, Transaction } from 'kysely';
import type { ClientId, UserId } from '../shared/index.ts';
import type { Schema } from '../store/index.ts';
import { deleteConnectedApps } from './connected-app-store.ts';

/** The client apps that have access to a user's data, and until when (milliseconds since the epoch). */
export async function listGrants(
  db: Kysely<Schema>,
  userId: UserId,
): Promise<{ clientId: ClientId | null; name: string | null; expiresAt: number }[]> {
  return db
    .selectFrom('oidc')
    .leftJoin('clients', 'clients.id', 'oidc.clientId')
    .select(['oidc.clientId', 'clients.name', 'oidc.expiresAt'])
    .where('oidc.model', '=', 'Grant')
    .where('oidc.accountId', '=', userId)
    .orderBy('oidc.expiresAt')
    .execute();
}

/** Deletes every record of the OpenID Provider about a user, in the transaction that deletes the user. */
export async function eraseUserGrants(trx: Transaction<Schema>, userId: UserId): Promise<void> {
  await trx
    .deleteFrom('oidc')
    .where('grantId', 'in', (from) => from.selectFrom('oidc as own').select('idHash').where('accountId', '=', userId))
    .execute();
  await trx.deleteFrom('oidc').where('accountId', '=', userId).execute();
  await deleteConnectedApps(trx, { userId });
}
