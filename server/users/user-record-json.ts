import { z } from 'zod';
import { doc } from '../http/index.ts';
import { planIdSchema, type UserId, userIdSchema } from '../shared/index.ts';
import type { Database } from '../store/index.ts';
import { attributeDocs, memberIdDoc } from './attribute-docs.ts';
import { toCognitoAttributes } from './cognito-attributes.ts';
import type { User } from './user.ts';
import { findUsers } from './user-list-store.ts';
import { findUserRecord, findUserRecords, type UserRecord } from './user-record-store.ts';
import { findUser } from './user-store.ts';

const anything = (description: string, example: object) =>
  z.record(z.string(), z.unknown()).meta(doc(`${description}, an object of the caller`, example));
const time = (description: string) =>
  z.int().meta(doc(`${description}, in milliseconds since the epoch`, 1_795_510_200_000));

/** Descriptions and examples of the fields of a user record, also where a call takes them. */
export const recordDocs = {
  id: doc('Id of the user record', '0197c2a4-7b6e-7d31-9f0a-2c4e6a8b0d20'),
  username: doc('Email address of the member', 'ada@example.com'),
  planId: doc('Id of the plan; null: none', '12'),
  source: doc('Where the member came from', 'general'),
  stripeCustomerId: doc('Id of the customer at Stripe; null: none', 'cus_QK2v7Yd1'),
  about: doc('A text of the member about themselves', 'I build engines.'),
  imageName: doc('Picture: a path below MEDIA_URL or an address there; null: none', 'ada.png'),
  status: doc('Status of the record', 'active'),
  totalRewards: doc('Rewards of the member, a whole number', '5'),
  companyCategory: doc('Category of the company', 'engineering'),
  userType: doc('Kind of member, in the words of the marketplace', 'buyer'),
};

/** The specification's user record (section 3), under its names. Times in milliseconds since the epoch. */
export const userRecordSchema = z
  .object({
    id: z.string().meta(recordDocs.id),
    userId: userIdSchema.meta(memberIdDoc),
    username: z.string().meta(recordDocs.username),
    firstName: z.string().meta(attributeDocs.givenName),
    lastName: z.string().meta(attributeDocs.familyName),
    jobTitle: z.string().nullable().meta(attributeDocs.jobTitle),
    company: z.string().nullable().meta(attributeDocs.companyName),
    planId: planIdSchema.nullable().meta(recordDocs.planId),
    source: z.enum(['general', 'appsumo', 'appsumo_update']).meta(recordDocs.source),
    stripeCustomerId: z.string().nullable().meta(recordDocs.stripeCustomerId),
    about: z.string().meta(recordDocs.about),
    additionalAttributes: anything('Further attributes', { team: 'north' }),
    imageName: z.string().nullable().meta(recordDocs.imageName),
    notificationSetting: anything('Settings of notifications', { weekly: true }),
    socialMediaLinks: anything('Links', { site: 'https://ada.example' }),
    status: z.string().meta(recordDocs.status),
    totalRewards: z.string().meta(recordDocs.totalRewards),
    userAttributes: z
      .record(z.string(), z.string())
      .meta(doc('User attributes, all of them texts', { email: 'ada@example.com' })),
    companyCategory: z.string().nullable().meta(recordDocs.companyCategory),
    userType: z.string().nullable().meta(recordDocs.userType),
    createdAt: time('Time of the sign-up'),
    updatedAt: time('Time of the last change'),
  })
  .meta({ id: 'User', description: 'The user record of a member.' });
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
