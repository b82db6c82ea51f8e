import type { Kysely, Transaction } from 'kysely';
import type { ClientId, UserId } from '../shared/index.ts';
import type { Schema } from '../store/index.ts';
import { deleteConnectedApps } from './connected-app-store.ts';

/** The client apps that have access to a user's data, and until when (milliseconds since the epoch). */
export async function listGrants(
  db: Kysely<Schema>,
  userId: UserId,
): Promise<{ clientId: ClientId | null; name: string | null; expiresAt: number }[]> {
  const rows = await db
    .selectFrom('oidc')
    .leftJoin('clients', 'clients.id', 'oidc.client_id')
    .select(['oidc.client_id', 'clients.name', 'oidc.expires_at'])
    .where('oidc.model', '=', 'Grant')
    .where('oidc.account_id', '=', userId)
    .orderBy('oidc.expires_at')
    .execute();
  return rows.map(({ client_id, name, expires_at }) => ({ clientId: client_id, name, expiresAt: expires_at }));
}

/** Deletes every record of the OpenID Provider about a user, in the transaction that deletes the user. */
export async function eraseUserGrants(trx: Transaction<Schema>, userId: UserId): Promise<void> {
  await trx
    .deleteFrom('oidc')
    .where('grant_id', 'in', (from) =>
      from.selectFrom('oidc as own').select('id_hash').where('account_id', '=', userId),
    )
    .execute();
  await trx.deleteFrom('oidc').where('account_id', '=', userId).execute();
  await deleteConnectedApps(trx, { userId });
}
