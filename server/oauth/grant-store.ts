import type { InsertResult, Kysely, Transaction } from 'kysely';
import type { AdapterPayload } from 'oidc-provider';
import { type Database, keepUnchanged, prepare, type Schema, type SecretBox, sha256 } from '../store/index.ts';
import { sessionsLedToClients } from './client-session-store.ts';
import type { Ended, LogoutNotices } from './logout-notices.ts';

export interface GrantStore {
  /** A grant is written once. */
  insert(id: string, payload: AdapterPayload, expiresAtMs: number, foyerSession: string | null): Promise<void>;
  find(id: string): Promise<AdapterPayload | undefined>;
  /** The grant that a Foyer session gave to a client, the newest of several. */
  findOfSession(foyerSession: string, clientId: string): Promise<AdapterPayload | undefined>;
  isAlive(id: string): Promise<boolean>;
  /** Ends a grant with everything that hangs on it: refresh tokens, access tokens, codes. The session goes on. */
  revoke(id: string): Promise<void>;
  /** The sessions are over: so are their grants, and the client apps that they led to hear of it. */
  revokeOfSessions(foyerSessions: readonly string[]): Promise<void>;
  /**
   * All sessions of the member are over, also those that no record names any more.
   * @param keeps whether a session, and with it what hangs on it, goes on. Undefined: none does
   */
  revokeOfAccount(accountId: string, keeps?: (foyerSession: string) => Promise<boolean>): Promise<void>;
  /** What members gave to a client app; their sessions go on. */
  revokeOfClient(clientId: string): Promise<void>;
  /** The client app is about to be removed: it hears that nobody is signed in there any more. */
  endOfClient(trx: Transaction<Schema>, clientId: string): Promise<void>;
  /** How many grants of a member or of a client are alive. */
  count(of: { accountId: string } | { clientId: string }): Promise<number>;
  /** The same member signed in again: the grants go with the new session. */
  moveToSession(before: string, after: string): Promise<void>;
  /**
   * The sessions on which grants of a client hang, in the order of the grants' ids: the next `batch` after a grant.
   * @param after the last grant of the batch before; '' at the beginning
   */
  sessionsOfClient(clientId: string, after: string, batch: number): Promise<GrantOfSession[]>;
  /** Ends the grants of one client that hang on these sessions; other clients keep theirs, and nobody hears of it. */
  revokeOfClientSessions(clientId: string, foyerSessions: readonly string[]): Promise<number>;
  /** Deletes what has expired, at most `batch` rows; answers how many. */
  sweep(nowMs: number, batch: number): Promise<number>;
}

/** A grant, and the session on which it hangs. */
export interface GrantOfSession {
  idHash: string;
  foyerSession: string | null;
}

const model = 'Grant';

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
  expiresAtMs: number;
}

/** How many grants this process has added, by database: other changes of rows are the database's to tell. */
const added = new WeakMap<Database, number>();

/** So many sessions are asked about, and so many grants deleted, at a time. */
const sessionsAtOnce = 50;
const grantsAtOnce = 500;

function* chunks<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}

/** Deletes these grants with the refresh tokens under them. */
async function revoke(trx: Transaction<Schema>, hashes: readonly string[]): Promise<void> {
  for (const some of chunks(hashes, grantsAtOnce)) {
    await trx.deleteFrom('oidc').where('model', '=', model).where('id_hash', 'in', some).execute();
    await trx.deleteFrom('oidc').where('grant_id', 'in', some).execute();
  }
}

async function revokeWhere(
  trx: Transaction<Schema>,
  column: 'id_hash' | 'foyer_session' | 'account_id' | 'client_id',
  values: readonly string[],
): Promise<void> {
  const rows = await trx
    .selectFrom('oidc')
    .select('id_hash')
    .where('model', '=', model)
    .where(column, 'in', values)
    .execute();
  await revoke(
    trx,
    rows.map((row) => row.id_hash),
  );
}

/** The sessions on which something of the member hangs, and the grants that hang on none. */
async function heldSessions(
  db: Kysely<Schema>,
  accountId: string,
): Promise<{ sessions: string[]; withoutSession: string[] }> {
  const [rows, ledTo] = await Promise.all([
    db
      .selectFrom('oidc')
      .select(['id_hash', 'foyer_session'])
      .where('model', '=', model)
      .where('account_id', '=', accountId)
      .execute(),
    sessionsLedToClients(db, accountId),
  ]);
  const sessions = rows.map(({ foyer_session }) => foyer_session).filter((session) => session !== null);
  return {
    sessions: [...new Set([...sessions, ...ledTo])],
    withoutSession: rows.filter(({ foyer_session }) => foyer_session === null).map(({ id_hash }) => id_hash),
  };
}

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
  const selectOfSession = prepare<{ foyerSession: string; clientId: string; nowMs: number }, GrantRow>((v) =>
    db
      .selectFrom('oidc')
      .select(columns)
      .where('foyer_session', '=', v.foyerSession)
      .where('client_id', '=', v.clientId)
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

  const revokeAll = (column: 'id_hash' | 'client_id', value: string) =>
    database.transaction((trx) => revokeWhere(trx, column, [value]));

  async function end(column: 'foyer_session' | 'account_id', values: readonly string[], which: Ended): Promise<void> {
    await database.transaction(async (trx) => {
      await revokeWhere(trx, column, values);
      await notices.ended(trx, which);
    });
    notices.wake();
  }

  async function revokeOfSessions(sessions: readonly string[]): Promise<void> {
    if (sessions.length > 0) await end('foyer_session', sessions, { sessions });
  }

  async function revokeOfAccount(accountId: string, keeps?: (session: string) => Promise<boolean>): Promise<void> {
    if (!keeps) return end('account_id', [accountId], { accountId });
    // First read what there is, then ask: what is given to a session that goes on after the first step is not touched.
    const held = await heldSessions(db, accountId);
    for (const batch of chunks(held.sessions, sessionsAtOnce)) {
      const kept = await Promise.all(batch.map(keeps));
      await revokeOfSessions(batch.filter((_, index) => !kept[index]));
    }
    await database.transaction((trx) => revoke(trx, held.withoutSession));
  }

  return {
    async insert(id, payload, expiresAtMs, foyerSession) {
      const idHash = sha256(id);
      await insert(db, {
        idHash,
        payload: box.seal(JSON.stringify(payload), aad(idHash)),
        clientId: payload.clientId ?? null,
        accountId: payload.accountId ?? null,
        foyerSession,
        expiresAtMs,
      });
      added.set(database, (added.get(database) ?? 0) + 1);
    },
    find: async (id) => parsed(await living(id)),
    async findOfSession(foyerSession, clientId) {
      const newest = await bySession(`${foyerSession} ${clientId}`, async () =>
        known((await selectOfSession(db, { foyerSession, clientId, nowMs: now() })).rows[0]),
      );
      return parsed(unexpired(newest));
    },
    isAlive: async (id) => (await living(id)) !== undefined,
    revoke: (id) => revokeAll('id_hash', sha256(id)),
    revokeOfSessions,
    revokeOfAccount,
    revokeOfClient: (clientId) => revokeAll('client_id', clientId),
    async endOfClient(trx, clientId) {
      await revokeWhere(trx, 'client_id', [clientId]);
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
        .where('id_hash', '>', after)
        .orderBy('id_hash')
        .limit(batch)
        .execute();
      return rows.map(({ id_hash, foyer_session }) => ({ idHash: id_hash, foyerSession: foyer_session }));
    },
    async revokeOfClientSessions(clientId, foyerSessions) {
      if (foyerSessions.length === 0) return 0;
      return database.transaction(async (trx) => {
        const rows = await trx
          .selectFrom('oidc')
          .select('id_hash')
          .where('foyer_session', 'in', foyerSessions)
          .where('client_id', '=', clientId)
          .where('model', '=', model)
          .execute();
        await revoke(
          trx,
          rows.map(({ id_hash }) => id_hash),
        );
        return rows.length;
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
