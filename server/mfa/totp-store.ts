import type { Transaction } from 'kysely';
import type { UserId } from '../shared/index.ts';
import type { Db, Row, Schema, SecretBox } from '../store/index.ts';

/** A user's authenticator app. */
type TotpAuthenticator = Omit<Row<'totpAuthenticators'>, 'sealedSecret'> & {
  /** Base32 (RFC 4648), 160 bits. */
  secret: string;
};

/** Associated data of the seal: a copy in another user's row cannot be opened. */
const totpSecretAad = (userId: UserId) => `totp_authenticators.sealed_secret ${userId}`;

export async function findTotp(db: Db, box: SecretBox, userId: UserId): Promise<TotpAuthenticator | undefined> {
  const row = await db.selectFrom('totpAuthenticators').selectAll().where('userId', '=', userId).executeTakeFirst();
  if (!row) return undefined;
  const { sealedSecret, ...authenticator } = row;
  return { ...authenticator, secret: box.open(sealedSecret, totpSecretAad(userId)) };
}

/** Tests whether the user has one, without opening it. */
export async function hasTotp(db: Db, userId: UserId): Promise<boolean> {
  return (await totpCreatedAt(db, userId)) !== undefined;
}

/** Time of its creation (milliseconds since the epoch); undefined: none. */
export async function totpCreatedAt(db: Db, userId: UserId): Promise<number | undefined> {
  const row = await db
    .selectFrom('totpAuthenticators')
    .select('createdAt')
    .where('userId', '=', userId)
    .executeTakeFirst();
  return row?.createdAt;
}

/** Replaces an earlier one. The time step of the activating code is used up. */
export async function upsertTotp(
  trx: Transaction<Schema>,
  box: SecretBox,
  { secret, ...authenticator }: TotpAuthenticator,
): Promise<void> {
  await removeTotp(trx, authenticator.userId);
  await trx
    .insertInto('totpAuthenticators')
    .values({ ...authenticator, sealedSecret: box.seal(secret, totpSecretAad(authenticator.userId)) })
    .execute();
}

export async function removeTotp(trx: Transaction<Schema>, userId: UserId): Promise<boolean> {
  const { numDeletedRows } = await trx.deleteFrom('totpAuthenticators').where('userId', '=', userId).executeTakeFirst();
  return numDeletedRows > 0n;
}

/**
 * Uses up a time step: of several codes of one step, sent in parallel or again, one is accepted (RFC 6238, section
 * 5.2).
 * @returns false if it, or a later one, was used before
 */
export async function consumeTotpStep(db: Db, userId: UserId, step: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('totpAuthenticators')
    .set({ lastStep: step })
    .where('userId', '=', userId)
    .where('lastStep', '<', step)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
