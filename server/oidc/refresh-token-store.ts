import { type InsertResult, type QueryResult, sql, type UpdateResult } from 'kysely';
import Provider, { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import { type SealedText, type Sha256, sha256 } from '../shared/index.ts';
import {
  type Database,
  type Db,
  gatherCalls,
  type KeyValueStore,
  prepare,
  type Row,
  type SecretBox,
} from '../store/index.ts';
import { parsePayload } from './grant-records-store.ts';
import type { GrantStore } from './grant-store.ts';
import { AnsweredBefore, type RefreshAnswers } from './refresh-token-reuse.ts';

const model = 'RefreshToken';

interface RefreshTokenDeps {
  database: Database;
  box: SecretBox;
  grants: GrantStore;
  answers: Pick<RefreshAnswers, 'judge'>;
  kv: Pick<KeyValueStore, 'ping'>;
  now: () => number;
}

type RefreshTokenRow = Pick<Row<'oidc'>, 'payload' | 'consumedAt' | 'expiresAt'>;

interface StoredRefreshToken {
  idHash: Sha256;
  payload: SealedText;
  grantHash: Sha256;
  expiresAt: number;
  nowMs: number;
}

/** The values of several tokens, by column. */
type StoredRefreshTokens = { [Name in keyof Omit<StoredRefreshToken, 'nowMs'>]: StoredRefreshToken[Name][] } & {
  nowMs: number;
};

/**
 * Stores the tokens of one turn of the event loop by one statement of PostgreSQL, each only while its grant exists.
 * SQLite stores them by one transaction as they come.
 * @returns whether it has stored the token
 */
function gatherInserts({ db }: Database): (token: StoredRefreshToken) => Promise<boolean> {
  const insert = prepare<StoredRefreshTokens, Pick<Row<'oidc'>, 'idHash'>>((v) =>
    db
      .insertInto('oidc')
      .columns(['model', 'idHash', 'payload', 'grantId', 'expiresAt'])
      .expression((eb) =>
        eb
          .selectFrom(
            sql<Row<'oidc'>>`unnest(
              ${v.idHash}::text[], ${v.payload}::text[], ${v.grantHash}::text[], ${v.expiresAt}::bigint[]
            )`.as<'token'>(sql`token(id_hash, payload, grant_id, expires_at)`),
          )
          .innerJoin('oidc as parent', 'parent.idHash', 'token.grantId')
          .select((s) => [
            s.val(model).as('model'),
            'token.idHash',
            'token.payload',
            'token.grantId',
            'token.expiresAt',
          ])
          .where('parent.model', '=', 'Grant')
          .where('parent.expiresAt', '>', v.nowMs),
      )
      .onConflict((conflict) => conflict.columns(['model', 'idHash']).doNothing())
      .returning('idHash'),
  );
  return gatherCalls(async (tokens) => {
    const { rows } = await insert(db, {
      idHash: tokens.map(({ idHash }) => idHash),
      payload: tokens.map(({ payload }) => payload),
      grantHash: tokens.map(({ grantHash }) => grantHash),
      expiresAt: tokens.map(({ expiresAt }) => expiresAt),
      nowMs: Math.max(...tokens.map(({ nowMs }) => nowMs)),
    });
    const stored = new Set(rows.map(({ idHash }) => idHash));
    return tokens.map(({ idHash }) => stored.has(idHash));
  });
}

function prepareStatements(database: Database) {
  const { db } = database;
  const select = prepare<{ idHash: Sha256 }, RefreshTokenRow>((v) =>
    db
      .selectFrom('oidc')
      .select(['payload', 'consumedAt', 'expiresAt'])
      .where('model', '=', model)
      .where('idHash', '=', v.idHash),
  );
  /** Both store the token only while its grant exists. A sign-out finds it through the grant. */
  const insertUnderGrant = prepare<StoredRefreshToken, InsertResult>((v) =>
    db
      .insertInto('oidc')
      .columns(['model', 'idHash', 'payload', 'grantId', 'expiresAt'])
      .expression((eb) =>
        eb
          .selectFrom('oidc as parent')
          .select((s) => [
            s.val(model).as('model'),
            s.val(v.idHash).as('idHash'),
            s.val(v.payload).as('payload'),
            s.val(v.grantHash).as('grantId'),
            s.cast<number>(s.val(v.expiresAt), 'bigint').as('expiresAt'),
          ])
          .where('parent.model', '=', 'Grant')
          .where('parent.idHash', '=', v.grantHash)
          .where('parent.expiresAt', '>', v.nowMs),
      )
      // It replaces no row: cached grants, which are rows of the same table, stay valid.
      .onConflict((conflict) => conflict.columns(['model', 'idHash']).doNothing()),
  );
  const updateUnderGrant = prepare<StoredRefreshToken, UpdateResult>((v) =>
    db
      .updateTable('oidc')
      .set({ payload: v.payload, expiresAt: v.expiresAt })
      .where('model', '=', model)
      .where('idHash', '=', v.idHash)
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('oidc as parent')
            .select('parent.idHash')
            .where('parent.model', '=', 'Grant')
            .where('parent.idHash', '=', v.grantHash)
            .where('parent.expiresAt', '>', v.nowMs),
        ),
      ),
  );
  const isWritten = async (write: Promise<QueryResult<unknown>>) => Boolean((await write).numAffectedRows);
  const update = (token: StoredRefreshToken) => isWritten(updateUnderGrant(db, token));
  const insert =
    database.kind === 'postgres'
      ? gatherInserts(database)
      : (token: StoredRefreshToken) => isWritten(insertUnderGrant(db, token));
  /** @returns whether the grant exists */
  const store = async (token: StoredRefreshToken, isKnown: boolean): Promise<boolean> =>
    isKnown ? (await update(token)) || insert(token) : (await insert(token)) || update(token);
  return { select, store };
}

/** @throws {AnsweredBefore} if another retry was faster */
async function release(db: Db, idHash: Sha256, usedAtMs: number): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('oidc')
    .set({ consumedAt: null })
    .where('model', '=', model)
    .where('idHash', '=', idHash)
    .where('consumedAt', '=', usedAtMs)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new AnsweredBefore('refresh token already used');
}

/** A token that is not rotated is written again when its use prolongs it. */
function isUsedAgain(): boolean {
  const { params, entities } = Provider.ctx?.oidc ?? {};
  return params?.grant_type === 'refresh_token' && entities?.RotatedRefreshToken === undefined;
}

const aad = (idHash: Sha256) => `${model}:${idHash}`;

/** Writes a token under its grant. */
export function refreshTokenWriter({
  database,
  box,
  now,
}: Pick<RefreshTokenDeps, 'database' | 'box' | 'now'>): Pick<Adapter, 'upsert'> {
  const { store } = prepareStatements(database);
  return {
    /** @throws {errors.InvalidGrant} if the grant has ended */
    async upsert(id, payload, expiresInSeconds = 0) {
      const idHash = sha256(id);
      const values = {
        idHash,
        payload: box.seal(JSON.stringify(payload), aad(idHash)),
        grantHash: sha256(payload.grantId ?? ''),
        expiresAt: now() + expiresInSeconds * 1000,
        nowMs: now(),
      };
      const isStored = await store(values, isUsedAgain());
      if (!isStored) throw new errors.InvalidGrant('grant is gone');
    },
  };
}

const unsupported = async () => undefined;

/**
 * Refresh tokens survive a flushed key-value store, so they are in the database (RFC 6749, section 6; RFC 9700, section
 * 4.14).
 */
export function refreshTokenAdapter({ database, box, grants, answers, kv, now }: RefreshTokenDeps): Adapter {
  const { db } = database;
  const { select } = prepareStatements(database);
  const row = async (idHash: Sha256) => (await select(db, { idHash })).rows[0];
  const open = (idHash: Sha256, payload: SealedText) => parsePayload(box.open(payload, aad(idHash)));

  /**
   * Ends the grant of a stolen token.
   * @returns whether its first use never got an answer
   * @throws {AnsweredBefore} if it is no theft
   */
  async function isUnanswered(idHash: Sha256, payload: AdapterPayload, usedAtMs: number): Promise<boolean> {
    const { grantId } = payload;
    // An ended grant gets no repeated answer.
    if (grantId === undefined || !(await grants.isAlive(grantId))) return false;
    if ((await answers.judge(idHash, payload, usedAtMs)) === 'unanswered') return true;
    await grants.revoke(grantId);
    return false;
  }

  return {
    ...refreshTokenWriter({ database, box, now }),
    async find(id) {
      const idHash = sha256(id);
      const found = await row(idHash);
      if (!found || found.expiresAt <= now()) return undefined;
      // The id token of a refresh has no nonce (OpenID Connect Core 1.0, section 12.2).
      const { nonce: _, ...payload } = open(idHash, found.payload);
      if (found.consumedAt === null) return payload;
      const isRedeemed = Provider.ctx?.oidc.route === 'token';
      if (isRedeemed && (await isUnanswered(idHash, payload, found.consumedAt))) {
        await release(db, idHash, found.consumedAt);
        return payload;
      }
      return { ...payload, consumed: Math.floor(found.consumedAt / 1000) };
    },
    findByUid: unsupported,
    findByUserCode: unsupported,
    async destroy(id) {
      await db.deleteFrom('oidc').where('model', '=', model).where('idHash', '=', sha256(id)).execute();
    },
    /** One conditional update decides; a second use proves a leak and ends the family. */
    async consume(id) {
      // The new tokens go into the key-value store. While that is unavailable nothing may be used up: the client app's
      // retry would look like a theft and end its grant.
      await kv.ping();
      const idHash = sha256(id);
      const result = await db
        .updateTable('oidc')
        .set({ consumedAt: now() })
        .where('model', '=', model)
        .where('idHash', '=', idHash)
        .where('consumedAt', 'is', null)
        .executeTakeFirst();
      if (result.numUpdatedRows > 0n) return;
      const found = await row(idHash);
      if (found && (await isUnanswered(idHash, open(idHash, found.payload), found.consumedAt ?? 0)))
        throw new AnsweredBefore('refresh token already used');
      throw new errors.InvalidGrant('already used or unknown');
    },
    /** The tokens of a grant end with it: see `GrantStore.revoke`. */
    async revokeByGrantId(grantId) {
      await db.deleteFrom('oidc').where('model', '=', model).where('grantId', '=', sha256(grantId)).execute();
    },
  };
}
