import type { Transaction } from 'kysely';
import { z } from 'zod';
import type { UserId } from '../shared/index.ts';
import { type Db, type NewRow, parseStored, type Row, type Schema, uuidv7 } from '../store/index.ts';

type JsonObject = Record<string, unknown>;
/** The columns with JSON. */
type JsonColumn = 'additionalAttributes' | 'notificationSetting' | 'socialMediaLinks';

/** The specification's user record (section 3), except the columns of the user's own row. */
export type UserRecord = Omit<Row<'userRecords'>, JsonColumn> & Record<JsonColumn, JsonObject>;

type UserRecordChange = Partial<Omit<UserRecord, 'id' | 'userId' | 'createdAt' | 'updatedAt'>>;

const rewardsAtCreation = '5';

const objectSchema = z.record(z.string(), z.unknown());
const parseJsonObject = (json: string) => parseStored(objectSchema, json);

const toUserRecord = (row: Row<'userRecords'>): UserRecord => ({
  ...row,
  additionalAttributes: parseJsonObject(row.additionalAttributes),
  notificationSetting: parseJsonObject(row.notificationSetting),
  socialMediaLinks: parseJsonObject(row.socialMediaLinks),
});

/** The records of these users, in no order. */
export async function findUserRecords(db: Db, userIds: readonly UserId[]): Promise<UserRecord[]> {
  if (userIds.length === 0) return [];
  return (await db.selectFrom('userRecords').selectAll().where('userId', 'in', userIds).execute()).map(toUserRecord);
}

export async function findUserRecord(db: Db, userId: UserId): Promise<UserRecord | undefined> {
  const row = await db.selectFrom('userRecords').selectAll().where('userId', '=', userId).executeTakeFirst();
  return row && toUserRecord(row);
}

/** The record by its own id, which is not the user's. */
export async function findUserRecordById(db: Db, id: string): Promise<UserRecord | undefined> {
  const row = await db.selectFrom('userRecords').selectAll().where('id', '=', id).executeTakeFirst();
  return row && toUserRecord(row);
}

const toNewRow = (userId: UserId, nowMs: number): NewRow<'userRecords'> => ({
  id: uuidv7(nowMs),
  userId,
  about: '',
  additionalAttributes: '{}',
  notificationSetting: '{}',
  socialMediaLinks: '{}',
  status: 'active',
  totalRewards: rewardsAtCreation,
  createdAt: nowMs,
  updatedAt: nowMs,
});

/** Adds the records of some users; existing ones stay unchanged. */
export async function insertUserRecords(
  trx: Transaction<Schema>,
  userIds: readonly UserId[],
  nowMs: number,
): Promise<void> {
  if (userIds.length === 0) return;
  await trx
    .insertInto('userRecords')
    .values(userIds.map((userId) => toNewRow(userId, nowMs)))
    .onConflict((conflict) => conflict.column('userId').doNothing())
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
  const json = (value: JsonObject | undefined) => value && JSON.stringify(value);
  await trx
    .updateTable('userRecords')
    // Kysely omits undefined values.
    .set({
      stripeCustomerId: change.stripeCustomerId,
      about: change.about,
      imageName: change.imageName,
      status: change.status,
      totalRewards: change.totalRewards,
      companyCategory: change.companyCategory,
      userType: change.userType,
      additionalAttributes: json(change.additionalAttributes),
      notificationSetting: json(change.notificationSetting),
      socialMediaLinks: json(change.socialMediaLinks),
      updatedAt: nowMs,
    })
    .where('userId', '=', userId)
    .execute();
}
