import type { InsertResult } from 'kysely';
import type { AdapterPayload } from 'oidc-provider';
import { z } from 'zod';
import { type ClientId, type SessionIdHash, type Sha256, sha256, toClientId, toUserId } from '../shared/index.ts';
import {
  type BoundQuery,
  cacheUntilChanged,
  checkedAs,
  type Database,
  parseStored,
  prepare,
  type Row,
  type SecretBox,
} from '../store/index.ts';
import { revokeSurplus } from './grant-queries-store.ts';

const text = z.string().optional();

/** The properties on which the stores of the provider's records depend; the library checks the others. */
const schema = checkedAs<AdapterPayload>(
  z.object({
    accountId: text,
    clientId: text,
    exp: z.number().optional(),
    grantId: text,
    jti: text,
    uid: text,
    userCode: text,
  }),
);

/** A record that the library gave to the store as JSON. @throws {StoredDataInvalid} */
export const parsePayload = (json: string): AdapterPayload => parseStored(schema, json);

/** The session to which a grant belongs, and whether it outlives that (offline access, or a device). */
export interface GrantOwner {
  foyerSession: SessionIdHash | null;
  offline: boolean;
}

export interface GrantRecords {
  /** A grant is written once. */
  insert(id: string, payload: AdapterPayload, owner: GrantOwner & { expiresAtMs: number }): Promise<void>;
  find(id: string): Promise<AdapterPayload | undefined>;
  /** The grant of a Foyer session for a client, the newest of several. */
  findOfSession(owner: GrantOwner, clientId: ClientId): Promise<AdapterPayload | undefined>;
  isAlive(id: string): Promise<boolean>;
  /** `find` and `findOfSession` in two steps, for a statement that reads more than the grant. */
  bind(id: string): BoundQuery<GrantRow>;
  bindOfSession(owner: SessionOwner, clientId: ClientId): BoundQuery<GrantRow>;
  open(row: GrantRow): AdapterPayload;
}

/** The session of a grant that is sought. */
type SessionOwner = GrantOwner & { foyerSession: SessionIdHash };

export interface GrantRecordsSettings {
  database: Database;
  box: SecretBox;
  now: () => number;
}

const model = 'Grant';

interface CachedGrant {
  /** The opened payload. */
  json: string;
  expiresAtMs: number;
}

export type GrantRow = Pick<Row<'oidc'>, 'idHash' | 'payload' | 'expiresAt'>;
type NewGrant = GrantRow & Pick<Row<'oidc'>, 'clientId' | 'accountId' | 'foyerSession' | 'offline'>;

interface SessionGrant {
  foyerSession: SessionIdHash;
  offline: number;
  clientId: ClientId;
  nowMs: number;
}

/** The number of grants that this process has added, by database. The database reports other changes of rows. */
const added = new WeakMap<Database, number>();

const parsed = (grant: CachedGrant | undefined) => grant && parsePayload(grant.json);

const toAad = (idHash: Sha256) => `${model}:${idHash}`;

function prepareStatements({ db }: Database) {
  const columns = ['idHash', 'payload', 'expiresAt'] as const;
  return {
    selectById: prepare<{ idHash: Sha256; nowMs: number }, GrantRow>((v) =>
      db
        .selectFrom('oidc')
        .select(columns)
        .where('model', '=', model)
        .where('idHash', '=', v.idHash)
        .where('expiresAt', '>', v.nowMs),
    ),
    selectOfSession: prepare<SessionGrant, GrantRow>((v) =>
      db
        .selectFrom('oidc')
        .select(columns)
        .where('foyerSession', '=', v.foyerSession)
        .where('clientId', '=', v.clientId)
        .where('offline', '=', v.offline)
        .where('model', '=', model)
        .where('expiresAt', '>', v.nowMs)
        .orderBy('expiresAt', 'desc')
        .limit(1),
    ),
    insertGrant: prepare<NewGrant, InsertResult>((v) =>
      db.insertInto('oidc').values({
        model,
        idHash: v.idHash,
        payload: v.payload,
        clientId: v.clientId,
        accountId: v.accountId,
        foyerSession: v.foyerSession,
        offline: v.offline,
        expiresAt: v.expiresAt,
      }),
    ),
  };
}

/** The rows of grants. The row's presence decides: every use of a code or token looks it up. */
export function createGrantRecords({ database, box, now }: GrantRecordsSettings): GrantRecords {
  const { db } = database;
  const { selectById, selectOfSession, insertGrant } = prepareStatements(database);
  // Cached as text, because the library changes the objects that it gets.
  const byId = cacheUntilChanged<CachedGrant>(() => database.changes.ofRows('oidc'));
  // A refresh token adds a row to the same table, but no new grant.
  const bySession = cacheUntilChanged<CachedGrant>(() => {
    const rows = database.changes.ofRows('oidc');
    return rows === undefined ? undefined : rows + (added.get(database) ?? 0);
  });
  const known = (row: GrantRow | undefined): CachedGrant | undefined =>
    row && { json: box.open(row.payload, toAad(row.idHash)), expiresAtMs: row.expiresAt };
  const unexpired = (grant: CachedGrant | undefined) => (grant && grant.expiresAtMs > now() ? grant : undefined);

  async function living(id: string): Promise<CachedGrant | undefined> {
    return unexpired(
      await byId(id, async () => known((await selectById(db, { idHash: sha256(id), nowMs: now() })).rows[0])),
    );
  }

  return {
    async insert(id, payload, { expiresAtMs, foyerSession, offline }) {
      const clientId = payload.clientId === undefined ? null : toClientId(payload.clientId);
      const accountId = payload.accountId === undefined ? null : toUserId(payload.accountId);
      const idHash = sha256(id);
      await insertGrant(db, {
        idHash,
        payload: box.seal(JSON.stringify(payload), toAad(idHash)),
        clientId,
        accountId,
        foyerSession,
        offline: Number(offline),
        expiresAt: expiresAtMs,
      });
      added.set(database, (added.get(database) ?? 0) + 1);
      if (offline && accountId !== null && clientId !== null)
        await database.transaction((trx) => revokeSurplus(trx, accountId, clientId));
    },
    find: async (id) => parsed(await living(id)),
    async findOfSession({ foyerSession, offline }, clientId) {
      if (foyerSession === null) return undefined;
      const expected = { foyerSession, clientId, offline: Number(offline) };
      const newest = await bySession(`${foyerSession} ${expected.offline} ${clientId}`, async () =>
        known((await selectOfSession(db, { ...expected, nowMs: now() })).rows[0]),
      );
      return parsed(unexpired(newest));
    },
    isAlive: async (id) => (await living(id)) !== undefined,
    bind: (id) => selectById.bind({ idHash: sha256(id), nowMs: now() }),
    bindOfSession: ({ foyerSession, offline }, clientId) =>
      selectOfSession.bind({ foyerSession, clientId, offline: Number(offline), nowMs: now() }),
    open: (row) => parsePayload(box.open(row.payload, toAad(row.idHash))),
  };
}
