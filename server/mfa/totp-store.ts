import type { Transaction } from 'kysely';
import type { UserId } from '../shared/index.ts';
import type { Db, Schema, SecretBox } from '../store/index.ts';

/** A user's authenticator app. */
export interface TotpAuthenticator {
  userId: UserId;
  /** Base32 (RFC 4648), 160 bits. */
  secret: string;
  /** The last accepted time step. */
  lastStep: number;
  /** Milliseconds since the epoch. */
  createdAt: number;
}

/** Associated data of the seal: a copy in another user's row cannot be opened. */
const totpSecretAad = (userId: UserId) => `totp_authenticators.sealed_secret ${userId}`;

export async function findTotp(db: Db, box: SecretBox, userId: UserId): Promise<TotpAuthenticator | undefined> {
  const row = await db.selectFrom('totp_authenticators').selectAll().where('user_id', '=', userId).executeTakeFirst();
  return (
    row && {
      userId,
      secret: box.open(row.sealed_secret, totpSecretAad(userId)),
      lastStep: row.last_step,
      createdAt: row.created_at,
    }
  );
}

/** Tests whether the user has one, without opening it. */
export async function hasTotp(db: Db, userId: UserId): Promise<boolean> {
  return (await totpCreatedAt(db, userId)) !== undefined;
}

/** Time of its creation (milliseconds since the epoch); undefined: none. */
export async function totpCreatedAt(db: Db, userId: UserId): Promise<number | undefined> {
  const row = await db
    .selectFrom('totp_authenticators')
    .select('created_at')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row?.created_at;
}

/** Replaces an earlier one. The time step of the activating code is used up. */
export async function upsertTotp(
  trx: Transaction<Schema>,
  box: SecretBox,
  { userId, secret, lastStep, createdAt }: TotpAuthenticator,
): Promise<void> {
  await removeTotp(trx, userId);
  await trx
    .insertInto('totp_authenticators')
    .values({
      user_id: userId,
      sealed_secret: box.seal(secret, totpSecretAad(userId)),
      last_step: lastStep,
      created_at: createdAt,
    })
    .execute();
}

export async function removeTotp(trx: Transaction<Schema>, userId: UserId): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('totp_authenticators')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/**
 * Uses up a time step: of several codes of one step, sent in parallel or again, one is accepted (RFC 6238, section
 * 5.2).
 * @returns false if it, or a later one, was used before
 */
export async function consumeTotpStep(db: Db, userId: UserId, step: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('totp_authenticators')
    .set({ last_step: step })
    .where('user_id', '=', userId)
    .where('last_step', '<', step)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
