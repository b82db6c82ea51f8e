import type { Transaction } from 'kysely';
import type { Outbox } from '../messages/index.ts';
import type { SessionIdHash } from '../shared/index.ts';
import type { Schema } from '../store/index.ts';
import { type LogoutScope, removeClientSessions, transferClientSessions } from './client-session-store.ts';
import { findClient } from './client-store.ts';

/**
 * Notifies client apps that sessions have ended (OpenID Connect Back-Channel Logout 1.0). Each call runs in the
 * transaction that ends the sessions' grants: exactly the committed changes are sent, even if this process crashes.
 */
export interface BackchannelLogouts {
  /** These sessions, at every client app that they have been used for. */
  ended(trx: Transaction<Schema>, which: LogoutScope): Promise<void>;
  /** The session continues under another id; client apps are not notified. */
  moved(trx: Transaction<Schema>, before: SessionIdHash, after: SessionIdHash): Promise<void>;
  /** After the commit. */
  wake(): void;
}

export function createLogoutNotices(outbox: Pick<Outbox, 'add' | 'wake'>): BackchannelLogouts {
  return {
    async ended(trx, which) {
      for (const { sid, clientId, accountId } of await removeClientSessions(trx, which)) {
        const client = await findClient(trx, clientId);
        // The client app is deleted, or no longer wants notifications.
        if (client?.backchannel_logout_uri === undefined) continue;
        await outbox.add(trx, {
          channel: 'logout-token',
          clientId,
          sub: accountId,
          sid,
          address: client.backchannel_logout_uri,
          algorithm: client.id_token_signed_response_alg,
        });
      }
    },
    moved: transferClientSessions,
    wake: () => outbox.wake(),
  };
}
