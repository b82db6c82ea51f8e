import type { InsertResult, Kysely, Transaction } from 'kysely';
import type { AdapterPayload } from 'oidc-provider';
import { type Database, keepUnchanged, prepare, type Schema, type SecretBox, sha256 } from '../store/index.ts';
import { deleteConnectedApp, deleteConnectedApps } from './connected-app-store.ts';
import type { Ended, LogoutNotices } from './logout-notices.ts';

/** To which session a grant belongs, and whether it outlives that (offline access, or a device). */
export interface GrantOwner {
  foyerSession: string | null;
  offline: boolean;
}

export interface GrantStore {
  /** A grant is written once. */
  insert(id: string, payload: AdapterPayload, owner: GrantOwner & { expiresAtMs: number }): Promise<void>;
  find(id: string): Promise<AdapterPayload | undefined>;
  /** The grant that a Foyer session gave to a client, the newest of several. */
  findOfSession(owner: GrantOwner, clientId: string): Promise<AdapterPayload | undefined>;
  isAlive(id: string): Promise<boolean>;
  /** Ends a grant with everything that hangs on it: refresh tokens, access tokens, codes. The session goes on. */
  revoke(id: string): Promise<void>;
  /** The session is over: so are its grants but those with offline access, and the client apps that it led to hear of it. */
  revokeOfSession(foyerSession: string): Promise<void>;
  /** All sessions of the member are over, also those that no record names any more. */
  revokeOfAccount(accountId: string): Promise<void>;
  /** What members gave to a client app, their consents included; their sessions go on. */
  revokeOfClient(clientId: string): Promise<void>;
  /** What one member gave to a client app, the consent included. @returns false when they were not connected */
  revokeOfMember(trx: Transaction<Schema>, accountId: string, clientId: string): Promise<boolean>;
  /** Offline access that the member gave in other sessions than this one. */
  revokeOfflineOfOthers(accountId: string, foyerSession: string): Promise<void>;
  /** The client app is about to be removed: it hears that nobody is signed in there any more. */
  endOfClient(trx: Transaction<Schema>, clientId: string): Promise<void>;
  /** How many grants of a member or of a client are alive. */
  count(of: { accountId: string } | { clientId: string }): Promise<number>;
  /** The same member signed in again: the grants go with the new session. */
  moveToSession(before: string, after: string): Promise<void>;
  /** Deletes what has expired, at most `batch` rows; answers how many. */
  sweep(nowMs: number, batch: number): Promise<number>;
}

const model = 'Grant';
/** A client app that needs more than these for one member has lost track of them: the oldest end. */
const maxOfflineGrants = 50;

interface KnownGrant {
  /** The opened payload. */
  json: string;
  expiresAtMs: number;
}

interface GrantRow {
  id_hash: string;
  payload: string;
  expires_at: number;
}

interface NewGrant {
  idHash: string;
  payload: string;
  clientId: string | null;
  accountId: string | null;
  foyerSession: string | null;
  offline: number;
  expiresAtMs: number;
}

/** How many grants this process has added, by database: other changes of rows are the database's to tell. */
const added = new WeakMap<Database, number>();

/** The queries on grants. The row's presence is the truth: every use of a code or token looks it up. */
export function createGrantStore(
  database: Database,
  box: SecretBox,
  notices: LogoutNotices,
  now: () => number,
): GrantStore {
  const { db } = database;
  const aad = (idHash: string) => `${model}:${idHash}`;
  const alive = (from: Kysely<Schema>) =>
    from.selectFrom('oidc').where('model', '=', model).where('expires_at', '>', now());
  // Kept as text, because the library changes the objects that it is given.
  const byId = keepUnchanged<KnownGrant>(() => database.changes.ofRows('oidc'));
  // A refresh token is a new row of the same table, but no new grant.
  const bySession = keepUnchanged<KnownGrant>(() => {
    const rows = database.changes.ofRows('oidc');
    return rows === undefined ? undefined : rows + (added.get(database) ?? 0);
  });
  const columns = ['id_hash', 'payload', 'expires_at'] as const;
  const selectById = prepare<{ idHash: string; nowMs: number }, GrantRow>((v) =>
    db
      .selectFrom('oidc')
      .select(columns)
      .where('model', '=', model)
      .where('id_hash', '=', v.idHash)
      .where('expires_at', '>', v.nowMs),
  );
  const selectOfSession = prepare<{ foyerSession: string; offline: number; clientId: string; nowMs: number }, GrantRow>(
    (v) =>
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
  const known = (row: GrantRow | undefined): KnownGrant | undefined =>
    row && { json: box.open(row.payload, aad(row.id_hash)), expiresAtMs: row.expires_at };
  const unexpired = (grant: KnownGrant | undefined) => (grant && grant.expiresAtMs > now() ? grant : undefined);
  const parsed = (grant: KnownGrant | undefined) => grant && (JSON.parse(grant.json) as AdapterPayload);

  async function living(id: string): Promise<KnownGrant | undefined> {
    return unexpired(
      await byId(id, async () => known((await selectById(db, { idHash: sha256(id), nowMs: now() })).rows[0])),
    );
  }

  const grantHashes = (trx: Transaction<Schema>) => trx.selectFrom('oidc').select('id_hash').where('model', '=', model);

  async function revokeRows(trx: Transaction<Schema>, rows: readonly { id_hash: string }[]): Promise<void> {
    const hashes = rows.map((row) => row.id_hash);
    if (hashes.length === 0) return;
    await trx.deleteFrom('oidc').where('model', '=', model).where('id_hash', 'in', hashes).execute();
    await trx.deleteFrom('oidc').where('grant_id', 'in', hashes).execute();
  }

  async function revokeWhere(
    trx: Transaction<Schema>,
    column: 'id_hash' | 'foyer_session' | 'account_id' | 'client_id',
    value: string,
  ): Promise<void> {
    const found = grantHashes(trx).where(column, '=', value);
    // Offline access does not end with the session in which it was given (OpenID Connect Core 1.0, section 11).
    const ending = column === 'foyer_session' ? found.where('offline', '=', 0) : found;
    await revokeRows(trx, await ending.execute());
  }

  /** Bounds what one member and client app can make by signing in again and again. */
  async function endSurplus(accountId: string, clientId: string): Promise<void> {
    await database.transaction(async (trx) => {
      const surplus = grantHashes(trx)
        .where('account_id', '=', accountId)
        .where('client_id', '=', clientId)
        .where('offline', '=', 1)
        .orderBy('expires_at', 'desc')
        .offset(maxOfflineGrants)
        .limit(maxOfflineGrants);
      await revokeRows(trx, await surplus.execute());
    });
  }

  async function end(column: 'foyer_session' | 'account_id', value: string, which: Ended): Promise<void> {
    await database.transaction(async (trx) => {
      await revokeWhere(trx, column, value);
      await notices.ended(trx, which);
    });
    notices.wake();
  }

  return {
    async insert(id, payload, { expiresAtMs, foyerSession, offline }) {
      const idHash = sha256(id);
      await insert(db, {
        idHash,
        payload: box.seal(JSON.stringify(payload), aad(idHash)),
        clientId: payload.clientId ?? null,
        accountId: payload.accountId ?? null,
        foyerSession,
        offline: offline ? 1 : 0,
        expiresAtMs,
      });
      added.set(database, (added.get(database) ?? 0) + 1);
      const { accountId, clientId } = payload;
      if (offline && accountId !== undefined && clientId !== undefined) await endSurplus(accountId, clientId);
    },
    find: async (id) => parsed(await living(id)),
    async findOfSession({ foyerSession, offline }, clientId) {
      if (foyerSession === null) return undefined;
      const wanted = { foyerSession, clientId, offline: offline ? 1 : 0 };
      const newest = await bySession(`${foyerSession} ${wanted.offline} ${clientId}`, async () =>
        known((await selectOfSession(db, { ...wanted, nowMs: now() })).rows[0]),
      );
      return parsed(unexpired(newest));
    },
    isAlive: async (id) => (await living(id)) !== undefined,
    revoke: (id) => database.transaction((trx) => revokeWhere(trx, 'id_hash', sha256(id))),
    revokeOfSession: (session) => end('foyer_session', session, { session }),
    revokeOfAccount: (accountId) => end('account_id', accountId, { accountId }),
    revokeOfClient: (clientId) =>
      database.transaction(async (trx) => {
        await revokeWhere(trx, 'client_id', clientId);
        await deleteConnectedApps(trx, 'client_id', clientId);
      }),
    async revokeOfMember(trx, accountId, clientId) {
      const ofBoth = grantHashes(trx).where('account_id', '=', accountId).where('client_id', '=', clientId);
      await revokeRows(trx, await ofBoth.execute());
      return deleteConnectedApp(trx, accountId, clientId);
    },
    revokeOfflineOfOthers: (accountId, foyerSession) =>
      database.transaction(async (trx) => {
        const others = grantHashes(trx)
          .where('account_id', '=', accountId)
          .where('offline', '=', 1)
          .where((eb) => eb.or([eb('foyer_session', 'is', null), eb('foyer_session', '!=', foyerSession)]));
        await revokeRows(trx, await others.execute());
      }),
    async endOfClient(trx, clientId) {
      await revokeWhere(trx, 'client_id', clientId);
      await deleteConnectedApps(trx, 'client_id', clientId);
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
