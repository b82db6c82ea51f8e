import { randomBytes } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { UserId } from '../../shared/index.ts';
import type { Db, Schema } from '../../store/index.ts';
import { uploadFolder } from '../user.ts';
import { insertUserRecord, updateUserRecord } from '../user-record-store.ts';
import type { CleanImage } from './image.ts';

/** The name is unknown until someone is told: 128 random bits. */
const toName = (): string => randomBytes(16).toString('base64url').replace(/^[-_]/, 'a');

interface SetPicture {
  /** From the base address of pictures, or a whole address there; null: none. */
  imageName: string | null;
  /** The whole address, for the attribute `picture`. */
  url: string | null;
  nowMs: number;
}

/** Sets or removes a user's picture, also the one of an identity provider. Another uploaded one is deleted. */
export async function setPicture(
  trx: Transaction<Schema>,
  userId: UserId,
  { imageName, url, nowMs }: SetPicture,
): Promise<void> {
  await deleteUploaded(trx, userId, imageName);
  await insertUserRecord(trx, userId, nowMs);
  await updateUserRecord(trx, userId, { change: { imageName }, nowMs });
  await trx.updateTable('users').set({ picture: url, updatedAt: nowMs }).where('id', '=', userId).execute();
}

/** @param except the picture that stays */
export async function deleteUploaded(trx: Transaction<Schema>, userId: UserId, except: string | null = null) {
  const name = except === null ? '' : (except.split(`${uploadFolder}/`).at(-1) ?? '');
  await trx.deleteFrom('uploadedPictures').where('userId', '=', userId).where('name', '<>', name).execute();
}

/** Stores an uploaded picture in place of the former one. */
export async function storeUploaded(
  trx: Transaction<Schema>,
  userId: UserId,
  { image, baseUrl, nowMs }: { image: CleanImage; baseUrl: string; nowMs: number },
): Promise<void> {
  const name = toName();
  const imageName = `${uploadFolder}/${name}`;
  await setPicture(trx, userId, { imageName, url: new URL(imageName, baseUrl).href, nowMs });
  const row = { name, type: image.type, content: image.bytes.toString('base64'), createdAt: nowMs };
  await trx
    .insertInto('uploadedPictures')
    .values({ userId, ...row })
    // One that was sent at the same time.
    .onConflict((conflict) => conflict.column('userId').doUpdateSet(row))
    .execute();
}

/** An uploaded picture of a user by its name. */
export async function findUploaded(db: Db, name: string): Promise<{ type: string; bytes: Buffer } | undefined> {
  const row = await db
    .selectFrom('uploadedPictures')
    .innerJoin('users', 'users.id', 'uploadedPictures.userId')
    .select(['type', 'content'])
    .where('name', '=', name)
    .executeTakeFirst();
  return row && { type: row.type, bytes: Buffer.from(row.content, 'base64') };
}

/** The users of stored pictures, in the order of their ids, with whether they exist. */
export function listPictureOwners(db: Db, after: UserId | null, max: number) {
  return db
    .selectFrom('uploadedPictures')
    .leftJoin('users', 'users.id', 'uploadedPictures.userId')
    .select(['uploadedPictures.userId', 'users.id as existing'])
    .where((eb) => (after === null ? eb.lit(true) : eb('uploadedPictures.userId', '>', after)))
    .orderBy('uploadedPictures.userId')
    .limit(max)
    .execute();
}

/**
 * Deletes pictures whose user is erased, among the next `max` ones. The code of a release without pictures, which runs
 * beside this one during an upgrade, erases a user and leaves the picture.
 * @returns the id to go on after; null at the end
 */
export async function sweepPictures(db: Db, after: UserId | null, max = 1000): Promise<UserId | null> {
  const owners = await listPictureOwners(db, after, max);
  const erased = owners.filter(({ existing }) => existing === null).map(({ userId }) => userId);
  if (erased.length > 0) await db.deleteFrom('uploadedPictures').where('userId', 'in', erased).execute();
  return (owners.length < max ? null : owners.at(-1)?.userId) ?? null;
}
