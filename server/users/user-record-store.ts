import type { Selectable, Transaction } from 'kysely';
import { z } from 'zod';
import type { UserId } from '../shared/index.ts';
import {
  cacheUntilChanged,
  type Database,
  type Db,
  parseStored,
  type Schema,
  type UserRecordTable,
  uuidv7,
} from '../store/index.ts';

/** The specification's user record (section 3), except the columns of the user's own row. */
export interface UserRecord {
  id: string;
  userId: UserId;
  stripeCustomerId: string | null;
  about: string;
  additionalAttributes: Record<string, unknown>;
  imageName: string | null;
  notificationSetting: Record<string, unknown>;
  socialMediaLinks: Record<string, unknown>;
  status: string;
  /** Text, as the specification has it: '5' at creation. */
  totalRewards: string;
  companyCategory: string | null;
  userType: string | null;
  createdAt: number;
  updatedAt: number;
}

export type UserRecordChange = Partial<Omit<UserRecord, 'id' | 'userId' | 'createdAt' | 'updatedAt'>>;

const rewardsAtCreation = '5';

const objectSchema = z.record(z.string(), z.unknown());
const parseJsonObject = (json: string) => parseStored(objectSchema, json);

function fromRow(row: Selectable<UserRecordTable>): UserRecord {
  return {
    id: row.id,
    userId: row.user_id,
    stripeCustomerId: row.stripe_customer_id,
    about: row.about,
    additionalAttributes: parseJsonObject(row.additional_attributes),
    imageName: row.image_name,
    notificationSetting: parseJsonObject(row.notification_setting),
    socialMediaLinks: parseJsonObject(row.social_media_links),
    status: row.status,
    totalRewards: row.total_rewards,
    companyCategory: row.company_category,
    userType: row.user_type,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export async function findUserRecord(db: Db, userId: UserId): Promise<UserRecord | undefined> {
  const row = await db.selectFrom('user_records').selectAll().where('user_id', '=', userId).executeTakeFirst();
  return row && fromRow(row);
}

/** Reads a user's imageName ('' for none) from a cache that lasts until the records change: every page shows it. */
export function createImageNameReader({ db, changes }: Database): (userId: UserId) => Promise<string> {
  const cachedImageName = cacheUntilChanged<string>(() => changes.ofRows('user_records'));
  return async (userId) => {
    const name = await cachedImageName(userId, async () => {
      const from = db.selectFrom('user_records').select('image_name').where('user_id', '=', userId);
      const row = await from.executeTakeFirst();
      return row && (row.image_name ?? '');
    });
    return name ?? '';
  };
}

/** The record by its own id, which is not the user's. */
export async function findUserRecordById(db: Db, id: string): Promise<UserRecord | undefined> {
  const row = await db.selectFrom('user_records').selectAll().where('id', '=', id).executeTakeFirst();
  return row && fromRow(row);
}

const newRow = (userId: UserId, nowMs: number): Selectable<UserRecordTable> => ({
  id: uuidv7(nowMs),
  user_id: userId,
  stripe_customer_id: null,
  about: '',
  additional_attributes: '{}',
  image_name: null,
  notification_setting: '{}',
  social_media_links: '{}',
  status: 'active',
  total_rewards: rewardsAtCreation,
  company_category: null,
  user_type: null,
  created_at: nowMs,
  updated_at: nowMs,
});

/** Adds the records of some users; existing ones stay unchanged. */
export async function insertUserRecords(
  trx: Transaction<Schema>,
  userIds: readonly UserId[],
  nowMs: number,
): Promise<void> {
  if (userIds.length === 0) return;
  await trx
    .insertInto('user_records')
    .values(userIds.map((userId) => newRow(userId, nowMs)))
    .onConflict((conflict) => conflict.column('user_id').doNothing())
    .execute();
}

/** Adds a user's record; an existing one stays unchanged. */
export async function insertUserRecord(trx: Transaction<Schema>, userId: UserId, nowMs: number): Promise<UserRecord> {
  await insertUserRecords(trx, [userId], nowMs);
  const record = await findUserRecord(trx, userId);
  if (!record) throw new Error('a user record that was just written is not there');
  return record;
}

export async function updateUserRecord(
  trx: Transaction<Schema>,
  userId: UserId,
  { change, nowMs }: { change: UserRecordChange; nowMs: number },
): Promise<void> {
  const json = (value: Record<string, unknown> | undefined) => value && JSON.stringify(value);
  await trx
    .updateTable('user_records')
    // Kysely omits undefined values.
    .set({
      stripe_customer_id: change.stripeCustomerId,
      about: change.about,
      additional_attributes: json(change.additionalAttributes),
      image_name: change.imageName,
      notification_setting: json(change.notificationSetting),
      social_media_links: json(change.socialMediaLinks),
      status: change.status,
      total_rewards: change.totalRewards,
      company_category: change.companyCategory,
      user_type: change.userType,
      updated_at: nowMs,
    })
    .where('user_id', '=', userId)
    .execute();
}
