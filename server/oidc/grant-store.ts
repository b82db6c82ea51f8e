import type { InsertResult, Kysely, Transaction } from 'kysely';
import type { AdapterPayload } from 'oidc-provider';
import {
  type ClientId,
  type SealedText,
  type SessionIdHash,
  type Sha256,
  sha256,
  toClientId,
  toSha256,
  toUserId,
  type UserId,
} from '../shared/index.ts';
import { cacheUntilChanged, type Database, prepare, type Schema, type SecretBox } from '../store/index.ts';
import type { BackchannelLogouts, LogoutScope } from './backchannel-logouts.ts';
import { deleteConnectedApp, deleteConnectedApps, forgetConsents } from './connected-app-store.ts';
import {
  chunks,
  heldSessions,
  revoke,
  revokeOfClientSessions,
  revokeOffline,
  revokeOfMemberAndClient,
  revokeSurplus,
  revokeWhere,
} from './grant-queries-store.ts';
import { parsePayload } from './stored-payload.ts';

/** The session to which a grant belongs, and whether it outlives that (offline access, or a device). */
export interface GrantOwner {
  foyerSession: SessionIdHash | null;
  offline: boolean;
}

export interface GrantStore {
  /** A grant is written once. */
  insert(id: string, payload: AdapterPayload, owner: GrantOwner & { expiresAtMs: number }): Promise<void>;
  find(id: string): Promise<AdapterPayload | undefined>;
  /** The grant of a Foyer session for a client, the newest of several. */
  findOfSession(owner: GrantOwner, clientId: ClientId): Promise<AdapterPayload | undefined>;
  isAlive(id: string): Promise<boolean>;
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
  /** The number of live grants of a user or of a client. */
  count(of: { accountId: UserId } | { clientId: ClientId }): Promise<number>;
  /** The same user signed in again: the grants move to the new session. */
  moveToSession(before: SessionIdHash, after: SessionIdHash): Promise<void>;
  /**
   * The sessions with grants of a client, in the order of the grants' ids: the next `batch` after a grant.
   * @param after the last grant of the previous batch; undefined for the first
   */
  sessionsOfClient(clientId: ClientId, after: Sha256 | undefined, batch: number): Promise<GrantOfSession[]>;
  /** Ends the grants of one client in these sessions, without notification; other clients keep theirs. */
  revokeOfClientSessions(clientId: ClientId, foyerSessions: readonly SessionIdHash[]): Promise<number>;
  /** Deletes expired rows, at most `batch`. Returns the number. */
  sweep(nowMs: number, batch: number): Promise<number>;
}

/** A grant, and its session. */
export interface GrantOfSession {
  idHash: Sha256;
  foyerSession: SessionIdHash | null;
}

const model = 'Grant';

interface CachedGrant {
  /** The opened payload. */
  json: string;
  expiresAtMs: number;
}

interface GrantRow {
  id_hash: Sha256;
  payload: SealedText;
  expires_at: number;
}

interface NewGrant {
  idHash: Sha256;
  payload: SealedText;
  clientId: ClientId | null;
  accountId: UserId | null;
  foyerSession: SessionIdHash | null;
  offline: number;
  expiresAtMs: number;
}

/** The number of grants that this process has added, by database. The database reports other changes of rows. */
const added = new WeakMap<Database, number>();

/** Sessions that are checked together. */
const sessionsAtOnce = 50;

/** The queries on grants. The row's presence decides: every use of a code or token looks it up. */
export function createGrantStore(
  database: Database,
  box: SecretBox,
  notices: BackchannelLogouts,
  now: () => number,
): GrantStore {
  const { db } = database;
  const aad = (idHash: Sha256) => `${model}:${idHash}`;
  const alive = (from: Kysely<Schema>) =>
    from.selectFrom('oidc').where('model', '=', model).where('expires_at', '>', now());
  // Cached as text, because the library changes the objects that it gets.
  const byId = cacheUntilChanged<CachedGrant>(() => database.changes.ofRows('oidc'));
  // A refresh token adds a row to the same table, but no new grant.
  const bySession = cacheUntilChanged<CachedGrant>(() => {
    const rows = database.changes.ofRows('oidc');
    return rows === undefined ? undefined : rows + (added.get(database) ?? 0);
  });
  const columns = ['id_hash', 'payload', 'expires_at'] as const;
  const selectById = prepare<{ idHash: Sha256; nowMs: number }, GrantRow>((v) =>
    db
      .selectFrom('oidc')
      .select(columns)
      .where('model', '=', model)
      .where('id_hash', '=', v.idHash)
      .where('expires_at', '>', v.nowMs),
  );
  const selectOfSession = prepare<
    { foyerSession: SessionIdHash; offline: number; clientId: ClientId; nowMs: number },
    GrantRow
  >((v) =>
    db
      .selectFrom('oidc')
      .select(columns)
      .where('foyer_session', '=', v.foyerSession)
      .where('client_id', '=', v.clientId)
      .where('offline', '=', v.offline)
      .where('model', '=', model)
      .where('expires_at', '>', v.nowMs)
      .orderBy('expires_at', 'desc')
      .limit(1),
  );
  const insert = prepare<NewGrant, InsertResult>((v) =>
    db.insertInto('oidc').values({
      model,
      id_hash: v.idHash,
      payload: v.payload,
      grant_id: null,
      client_id: v.clientId,
      account_id: v.accountId,
      foyer_session: v.foyerSession,
      offline: v.offline,
      consumed_at: null,
      expires_at: v.expiresAtMs,
    }),
  );
  const known = (row: GrantRow | undefined): CachedGrant | undefined =>
    row && { json: box.open(row.payload, aad(row.id_hash)), expiresAtMs: row.expires_at };
  const unexpired = (grant: CachedGrant | undefined) => (grant && grant.expiresAtMs > now() ? grant : undefined);
  const parsed = (grant: CachedGrant | undefined) => grant && parsePayload(grant.json);

  async function living(id: string): Promise<CachedGrant | undefined> {
    return unexpired(
      await byId(id, async () => known((await selectById(db, { idHash: sha256(id), nowMs: now() })).rows[0])),
    );
  }

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

  async function revokeOfAccount(
    accountId: UserId,
    keeps?: (session: SessionIdHash) => Promise<boolean>,
  ): Promise<void> {
    if (!keeps) return end({ accountId });
    // First read the grants, then ask: grants that a continuing session gets after the first step are not touched.
    const held = await heldSessions(db, accountId);
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
  }

  return {
    async insert(id, payload, { expiresAtMs, foyerSession, offline }) {
      const clientId = payload.clientId === undefined ? undefined : toClientId(payload.clientId);
      const accountId = payload.accountId === undefined ? undefined : toUserId(payload.accountId);
      const idHash = sha256(id);
      await insert(db, {
        idHash,
        payload: box.seal(JSON.stringify(payload), aad(idHash)),
        clientId: clientId ?? null,
        accountId: accountId ?? null,
        foyerSession,
        offline: offline ? 1 : 0,
        expiresAtMs,
      });
      added.set(database, (added.get(database) ?? 0) + 1);
      if (offline && accountId !== undefined && clientId !== undefined)
        await database.transaction((trx) => revokeSurplus(trx, accountId, clientId));
    },
    find: async (id) => parsed(await living(id)),
    async findOfSession({ foyerSession, offline }, clientId) {
      if (foyerSession === null) return undefined;
      const expected = { foyerSession, clientId, offline: offline ? 1 : 0 };
      const newest = await bySession(`${foyerSession} ${expected.offline} ${clientId}`, async () =>
        known((await selectOfSession(db, { ...expected, nowMs: now() })).rows[0]),
      );
      return parsed(unexpired(newest));
    },
    isAlive: async (id) => (await living(id)) !== undefined,
    revoke: (id) => database.transaction((trx) => revokeWhere(trx, { hashes: [sha256(id)] })),
    revokeOfSessions,
    revokeOfAccount,
    revokeOfClient: (clientId) =>
      database.transaction(async (trx) => {
        await revokeWhere(trx, { clientId });
        await deleteConnectedApps(trx, { clientId });
      }),
    async revokeOfMember(trx, accountId, clientId) {
      await revokeOfMemberAndClient(trx, accountId, clientId);
      return deleteConnectedApp(trx, accountId, clientId);
    },
    revokeOfflineOfOthers: (accountId, foyerSession) =>
      database.transaction((trx) => revokeOffline(trx, accountId, [foyerSession])),
    async endOfClient(trx, clientId) {
      await revokeWhere(trx, { clientId });
      await deleteConnectedApps(trx, { clientId });
      await notices.ended(trx, { clientId });
    },
    async count(of) {
      const from =
        'accountId' in of
          ? alive(db).where('account_id', '=', of.accountId)
          : alive(db).where('client_id', '=', of.clientId);
      const { count } = await from.select((eb) => eb.fn.countAll().as('count')).executeTakeFirstOrThrow();
      return Number(count);
    },
    async moveToSession(before, after) {
      await database.transaction(async (trx) => {
        await trx.updateTable('oidc').set({ foyer_session: after }).where('foyer_session', '=', before).execute();
        await notices.moved(trx, before, after);
      });
    },
    async sessionsOfClient(clientId, after, batch) {
      const rows = await db
        .selectFrom('oidc')
        .select(['id_hash', 'foyer_session'])
        .where('client_id', '=', clientId)
        .where('model', '=', model)
        .where('id_hash', '>', after ?? toSha256(''))
        .orderBy('id_hash')
        .limit(batch)
        .execute();
      return rows.map(({ id_hash, foyer_session }) => ({ idHash: id_hash, foyerSession: foyer_session }));
    },
    revokeOfClientSessions: (clientId, foyerSessions) =>
      database.transaction((trx) => revokeOfClientSessions(trx, clientId, foyerSessions)),
    async sweep(nowMs, batch) {
      const expired = db.selectFrom('oidc').select('id_hash').where('expires_at', '<=', nowMs).limit(batch);
      const result = await db
        .deleteFrom('oidc')
        .where('expires_at', '<=', nowMs)
        .where('id_hash', 'in', expired)
        .executeTakeFirst();
      return Number(result.numDeletedRows);
    },
  };
}
