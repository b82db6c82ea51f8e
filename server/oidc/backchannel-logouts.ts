import type { Transaction } from 'kysely';
import type { Outbox } from '../messages/index.ts';
import type { Schema } from '../store/index.ts';
import { type ClientSession, removeClientSessions, transferClientSessions } from './client-session-store.ts';
import { findClient } from './client-store.ts';

/**
 * Tells client apps that sessions are over (OpenID Connect Back-Channel Logout 1.0), each call in the transaction in which
 * the sessions' grants end: what is committed is told, whatever becomes of this process, and nothing else is.
 */
export interface BackchannelLogouts {
  /** Every session that these are, at every client app that it has led to. */
  ended(trx: Transaction<Schema>, which: LogoutScope): Promise<void>;
  /** The session goes on under another id, and nobody hears of it. */
  moved(trx: Transaction<Schema>, before: string, after: string): Promise<void>;
  /** After the commit. */
  wake(): void;
}

/** Foyer sessions (by the hashes of their ids), all of a member's, or all that led to a client app. */
export type LogoutScope = { sessions: readonly string[] } | { accountId: string } | { clientId: string };

function taken(trx: Transaction<Schema>, which: LogoutScope): Promise<ClientSession[]> {
  if ('sessions' in which) return removeClientSessions(trx, 'foyer_session', which.sessions);
  if ('accountId' in which) return removeClientSessions(trx, 'account_id', [which.accountId]);
  return removeClientSessions(trx, 'client_id', [which.clientId]);
}

export function createLogoutNotices(outbox: Pick<Outbox, 'add' | 'wake'>): BackchannelLogouts {
  return {
    async ended(trx, which) {
      for (const { sid, clientId, accountId } of await taken(trx, which)) {
        const client = await findClient(trx, clientId);
        // It wants to hear of nothing any more, or is gone.
        if (client?.backchannel_logout_uri === undefined) continue;
        await outbox.add(trx, {
          channel: 'logout-token',
          ...{ clientId, sub: accountId, sid },
          address: client.backchannel_logout_uri,
          algorithm: client.id_token_signed_response_alg,
        });
      }
    },
    moved: transferClientSessions,
    wake: () => outbox.wake(),
  };
}
