import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import { type Database, type SecretBox, sha256 } from '../store/index.ts';
import type { GrantStore } from './grant-store.ts';

const model = 'RefreshToken';

/** Refresh tokens survive a flushed key-value store, so they live in the database (RFC 6749, section 6; RFC 9700, section 4.14). */
export function refreshTokenAdapter(
  database: Database,
  box: SecretBox,
  grants: GrantStore,
  now: () => number,
): Adapter {
  const { db } = database;
  const aad = (idHash: string) => `${model}:${idHash}`;
  const unsupported = async () => undefined;

  async function row(idHash: string) {
    return db
      .selectFrom('oidc')
      .select(['payload', 'consumed_at', 'expires_at'])
      .where('model', '=', model)
      .where('id_hash', '=', idHash)
      .executeTakeFirst();
  }

  const open = (idHash: string, payload: string) => JSON.parse(box.open(payload, aad(idHash))) as AdapterPayload;

  return {
    /** One statement stores the token only while its grant lives. @throws {errors.InvalidGrant} when it is gone */
    async upsert(id, payload, expiresInSeconds = 0) {
      const idHash = sha256(id);
      const grantHash = sha256(payload.grantId ?? '');
      const expiresAt = now() + expiresInSeconds * 1000;
      const result = await db
        .insertInto('oidc')
        .columns([
          'model',
          'id_hash',
          'payload',
          'grant_id',
          'client_id',
          'account_id',
          'foyer_session',
          'consumed_at',
          'expires_at',
        ])
        .expression((eb) =>
          eb
            .selectFrom('oidc as parent')
            .select((s) => [
              s.val(model).as('model'),
              s.val(idHash).as('id_hash'),
              s.val(box.seal(JSON.stringify(payload), aad(idHash))).as('payload'),
              s.val(grantHash).as('grant_id'),
              s.val(payload.clientId ?? null).as('client_id'),
              s.val(payload.accountId ?? null).as('account_id'),
              // Sign-out finds refresh tokens through their grant.
              s.lit(null).as('foyer_session'),
              s.lit(null).as('consumed_at'),
              s.cast<number>(s.val(expiresAt), 'bigint').as('expires_at'),
            ])
            .where('parent.model', '=', 'Grant')
            .where('parent.id_hash', '=', grantHash)
            .where('parent.expires_at', '>', now()),
        )
        .executeTakeFirst();
      if (!result.numInsertedOrUpdatedRows) throw new errors.InvalidGrant('grant is gone');
    },
    async find(id) {
      const idHash = sha256(id);
      const found = await row(idHash);
      if (!found || found.expires_at <= now()) return undefined;
      const payload = open(idHash, found.payload);
      return found.consumed_at === null ? payload : { ...payload, consumed: Math.floor(found.consumed_at / 1000) };
    },
    findByUid: unsupported,
    findByUserCode: unsupported,
    async destroy(id) {
      await db.deleteFrom('oidc').where('model', '=', model).where('id_hash', '=', sha256(id)).execute();
    },
    /** One conditional update decides; whoever comes second proves a leak and ends the family. */
    async consume(id) {
      const idHash = sha256(id);
      const result = await db
        .updateTable('oidc')
        .set({ consumed_at: now() })
        .where('model', '=', model)
        .where('id_hash', '=', idHash)
        .where('consumed_at', 'is', null)
        .executeTakeFirst();
      if (result.numUpdatedRows > 0n) return;
      const found = await row(idHash);
      const grantId = found && open(idHash, found.payload).grantId;
      if (grantId !== undefined) await grants.revoke(grantId);
      throw new errors.InvalidGrant('already used or unknown');
    },
    /** The tokens of a grant go with it: see `GrantStore.revoke`. */
    async revokeByGrantId(grantId) {
      await db.deleteFrom('oidc').where('model', '=', model).where('grant_id', '=', sha256(grantId)).execute();
    },
  };
}
