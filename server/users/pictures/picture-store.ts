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

/** An uploaded picture by its name. */
export async function findUploaded(db: Db, name: string): Promise<{ type: string; bytes: Buffer } | undefined> {
  const from = db.selectFrom('uploadedPictures').select(['type', 'content']).where('name', '=', name);
  const row = await from.executeTakeFirst();
  return row && { type: row.type, bytes: Buffer.from(row.content, 'base64') };
}
