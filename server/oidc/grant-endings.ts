import type { Transaction } from 'kysely';
import { type ClientId, type SessionIdHash, sha256, type UserId } from '../shared/index.ts';
import type { Database, Schema } from '../store/index.ts';
import type { BackchannelLogouts } from './backchannel-logouts.ts';
import type { LogoutScope } from './client-session-store.ts';
import { deleteConnectedApp, deleteConnectedApps, forgetConsents } from './connected-app-store.ts';
import {
  chunks,
  heldSessions,
  revoke,
  revokeOfClientSessions,
  revokeOffline,
  revokeOfMemberAndClient,
  revokeWhere,
} from './grant-queries-store.ts';

export interface GrantEndings {
  /** Ends a grant with all its refresh tokens, access tokens and codes. The session continues. */
  revoke(id: string): Promise<void>;
  /** Ends the grants of ended sessions, except those with offline access, and notifies the client apps. */
  revokeOfSessions(foyerSessions: readonly SessionIdHash[]): Promise<void>;
  /**
   * Ends the grants of all sessions of the user, including sessions without a record, and the user's consents: a thief
   * may have given them.
   * @param keeps decides for a session whether it and its grants continue. Undefined: none does
   */
  revokeOfAccount(accountId: UserId, keeps?: (foyerSession: SessionIdHash) => Promise<boolean>): Promise<void>;
  /** Ends all grants of all users, and notifies the client apps: the users are asked for their consent again. */
  revokeEveryone(): Promise<void>;
  /** Ends all access that users gave to a client app, including consents; their sessions continue. */
  revokeOfClient(clientId: ClientId): Promise<void>;
  /**
   * Ends all access that one user gave to a client app, including the consent. @returns false if they were not
   * connected
   */
  revokeOfMember(trx: Transaction<Schema>, accountId: UserId, clientId: ClientId): Promise<boolean>;
  /** Ends offline access that the user gave in other sessions than this one. */
  revokeOfflineOfOthers(accountId: UserId, foyerSession: SessionIdHash): Promise<void>;
  /** Notifies a client app that is about to be deleted that all its sessions have ended. */
  endOfClient(trx: Transaction<Schema>, clientId: ClientId): Promise<void>;
  /** Ends the grants of one client in these sessions, without notification; other clients keep theirs. */
  revokeOfClientSessions(clientId: ClientId, foyerSessions: readonly SessionIdHash[]): Promise<number>;
  /** Ends the access of one client in a session, except offline access. The session continues. */
  endOfSession(clientId: ClientId, foyerSession: SessionIdHash): Promise<void>;
}

export interface GrantEndingsSettings {
  database: Database;
  notices: BackchannelLogouts;
}

/** Sessions that are checked together. */
const sessionsAtOnce = 50;

async function endAccessToClient(trx: Transaction<Schema>, clientId: ClientId): Promise<void> {
  await revokeWhere(trx, { clientId });
  await deleteConnectedApps(trx, { clientId });
}

/** Each end of grants runs in one transaction with its effects on connected apps and notifications. */
export function createGrantEndings({ database, notices }: GrantEndingsSettings): GrantEndings {
  async function end(which: LogoutScope): Promise<void> {
    await database.transaction(async (trx) => {
      await revokeWhere(trx, which);
      if ('accountId' in which) await deleteConnectedApps(trx, { userId: which.accountId });
      await notices.ended(trx, which);
    });
    notices.wake();
  }

  async function revokeOfSessions(sessions: readonly SessionIdHash[]): Promise<void> {
    if (sessions.length > 0) await end({ sessions });
  }

  return {
    revoke: (id) => database.transaction((trx) => revokeWhere(trx, { hashes: [sha256(id)] })),
    revokeOfSessions,
    async revokeOfAccount(accountId, keeps) {
      if (!keeps) return end({ accountId });
      // First read the grants, then ask: grants that a continuing session gets after the first step are not touched.
      const held = await heldSessions(database.db, accountId);
      const keptSessions: SessionIdHash[] = [];
      for (const batch of chunks(held.sessions, sessionsAtOnce)) {
        const stored = await Promise.all(batch.map(keeps));
        keptSessions.push(...batch.filter((_, index) => stored[index]));
        await revokeOfSessions(batch.filter((_, index) => !stored[index]));
      }
      await database.transaction(async (trx) => {
        await revoke(trx, held.withoutSession);
        await revokeOffline(trx, accountId, keptSessions);
        if (keptSessions.length > 0) await forgetConsents(trx, accountId);
        else await deleteConnectedApps(trx, { userId: accountId });
      });
    },
    revokeEveryone: () =>
      database.transaction(async (trx) => {
        await revokeWhere(trx, { everyone: true });
        await forgetConsents(trx);
        await notices.ended(trx, { everyone: true });
      }),
    revokeOfClient: (clientId) => database.transaction((trx) => endAccessToClient(trx, clientId)),
    async revokeOfMember(trx, accountId, clientId) {
      await revokeOfMemberAndClient(trx, accountId, clientId);
      return deleteConnectedApp(trx, accountId, clientId);
    },
    revokeOfflineOfOthers: (accountId, foyerSession) =>
      database.transaction((trx) => revokeOffline(trx, accountId, [foyerSession])),
    async endOfClient(trx, clientId) {
      await endAccessToClient(trx, clientId);
      await notices.ended(trx, { clientId });
    },
    revokeOfClientSessions: (clientId, foyerSessions) =>
      database.transaction((trx) => revokeOfClientSessions(trx, clientId, foyerSessions)),
    endOfSession: (clientId, foyerSession) =>
      database.transaction((trx) => revokeWhere(trx, { sessions: [foyerSession] }, clientId)),
  };
}
