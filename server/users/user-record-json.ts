import { z } from 'zod';
import { planIdSchema, type UserId, userIdSchema } from '../shared/index.ts';
import type { Database } from '../store/index.ts';
import { toCognitoAttributes } from './cognito-attributes.ts';
import type { User } from './user.ts';
import { findUserRecord, findUserRecords, type UserRecord } from './user-record-store.ts';
import { findUser, findUsers } from './user-store.ts';

const anything = z.record(z.string(), z.unknown());

/** The specification's user record (section 3), under its names. Times in milliseconds since the epoch. */
export const userRecordSchema = z.object({
  id: z.string(),
  userId: userIdSchema,
  username: z.string(),
  firstName: z.string(),
  lastName: z.string(),
  jobTitle: z.string().nullable(),
  company: z.string().nullable(),
  planId: planIdSchema.nullable(),
  source: z.enum(['general', 'appsumo', 'appsumo_update']),
  stripeCustomerId: z.string().nullable(),
  about: z.string(),
  additionalAttributes: anything,
  imageName: z.string().nullable(),
  notificationSetting: anything,
  socialMediaLinks: anything,
  status: z.string(),
  totalRewards: z.string(),
  userAttributes: z.record(z.string(), z.string()),
  companyCategory: z.string().nullable(),
  userType: z.string().nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
});
export type UserRecordJson = z.infer<typeof userRecordSchema>;

export function toUserRecordJson(user: User, record: UserRecord): UserRecordJson {
  const { userId: _, ...own } = record;
  return {
    ...own,
    userId: user.id,
    username: user.email,
    firstName: user.givenName,
    lastName: user.familyName,
    jobTitle: user.jobTitle,
    company: user.companyName,
    planId: user.planId,
    source: user.source,
    userAttributes: toCognitoAttributes(user),
    updatedAt: Math.max(user.updatedAt, record.updatedAt),
  };
}

/** A user's record for callers of the JSON API; undefined if there is no user or no record. */
export async function getUserRecord(database: Database, userId: UserId): Promise<UserRecordJson | undefined> {
  const [user, record] = await Promise.all([findUser(database.db, userId), findUserRecord(database.db, userId)]);
  return user && record && toUserRecordJson(user, record);
}

/** A service may look up this many users with one call. */
export const maxUsersPerLookup = 100;

/** The records of several users, in the order of the ids; each once, and unknown ids are left out. */
export async function listUserRecords({ db }: Database, userIds: readonly UserId[]): Promise<UserRecordJson[]> {
  const ids = [...new Set(userIds)];
  const [users, records] = await Promise.all([findUsers(db, ids), findUserRecords(db, ids)]);
  const userById = new Map(users.map((user) => [user.id, user]));
  const recordByUser = new Map(records.map((record) => [record.userId, record]));
  return ids.flatMap((id) => {
    const [user, record] = [userById.get(id), recordByUser.get(id)];
    return user && record ? [toUserRecordJson(user, record)] : [];
  });
}
