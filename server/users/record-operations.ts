import type { Request } from 'express';
import { z } from 'zod';
import {
  type ApiOperation,
  aliasMeta,
  defineOperation,
  doc,
  HttpError,
  idField,
  jsonField,
  linesField,
  requirePrincipal,
  resolveRequestedUser,
  textField,
  withDocs,
} from '../http/index.ts';
import { type PlanId, planIdSchema, toUserId } from '../shared/index.ts';
import type { Database } from '../store/index.ts';
import { attributeDocs } from './attribute-docs.ts';
import { deleteUploaded } from './pictures/picture-store.ts';
import { isImageName } from './profile-fields.ts';
import type { SaveProfile } from './save-profile.ts';
import type { User } from './user.ts';
import {
  getUserRecord,
  listUserRecords,
  maxUsersPerLookup,
  recordDocs,
  toUserRecordJson,
  type UserRecordJson,
  userRecordSchema,
} from './user-record-json.ts';
import { findUserRecordById, insertUserRecord, updateUserRecord } from './user-record-store.ts';
import { findUser } from './user-store.ts';

const id = idField(textField(100).min(1), '0197f3c2-9b1e-7a44');
const someJson = jsonField(4_000);
/** Fields that a caller may set, and fields that only Foyer decides: the latter may be repeated unchanged. */
const described = z.object({
  firstName: textField(100).optional(),
  lastName: textField(100).optional(),
  jobTitle: textField(200).nullable().optional(),
  company: textField(200).nullable().optional(),
  about: linesField(4_000).optional(),
  additionalAttributes: someJson.optional(),
  imageName: textField(300).nullable().optional(),
  notificationSetting: someJson.optional(),
  socialMediaLinks: someJson.optional(),
  companyCategory: textField(200).nullable().optional(),
  userType: textField(100).nullable().optional(),
});
const decided = ['planId', 'source', 'stripeCustomerId', 'status', 'totalRewards', 'username'] as const;
const userRecordBody = described.extend({
  userId: id.optional(),
  planId: idField(planIdSchema.nullable(), '12').optional(),
  source: z.string().optional(),
  stripeCustomerId: z.string().nullable().optional(),
  status: z.string().optional(),
  totalRewards: z.string().optional(),
  username: z.string().optional(),
});

const namedMemberDoc = doc('Id of the member; members may omit their own', '0197c2a4-7b6e-7d31-9f0a-2c4e6a8b0d1f');
const jsonDoc = (what: string, example: object) => doc(`${what}: at most 4,000 characters of JSON`, example);
const userRecordDocs = {
  ...recordDocs,
  firstName: attributeDocs.givenName,
  lastName: attributeDocs.familyName,
  jobTitle: attributeDocs.jobTitle,
  company: attributeDocs.companyName,
  additionalAttributes: jsonDoc('Further attributes', { team: 'north' }),
  notificationSetting: jsonDoc('Settings of notifications', { weekly: true }),
  socialMediaLinks: jsonDoc('Links', { site: 'https://ada.example' }),
  userId: namedMemberDoc,
};

/** Decisions of billing/ about plans; `wiring.ts` injects them, because billing/ belongs to a higher layer. */
export interface PlanCommands {
  isFree(planId: PlanId): boolean;
  /**
   * Gives a user a free plan, at once or when the paid period ends. @returns false: they have a lifetime plan. @throws
   * {HttpError}
   */
  choosePlanWithoutPayment(user: User, planId: PlanId): Promise<boolean>;
}

/** Rejects other values for fields that Foyer decides. */
function rejectDifferentValue(submitted: Partial<Record<string, unknown>>, true_: UserRecordJson): void {
  const wrong = decided.filter((name) => submitted[name] !== undefined && submitted[name] !== true_[name]);
  if (wrong.length > 0) {
    throw new HttpError('differs', {
      detail: `differs from what is stored: ${wrong.join(', ')}`,
      invalidParams: wrong.map((name) => ({
        name: `body.${name}`,
        detail: `is ${true_[name] ?? 'null'}`,
        stored: true_[name] ?? null,
      })),
    });
  }
}

interface RecordOperationsDeps {
  database: Database;
  plans: PlanCommands;
  saveProfile: SaveProfile;
  mediaUrl: string | undefined;
  now: () => number;
}

const missing = () => new HttpError('unknownMember', { detail: 'no such user record' });

/** The calls on user records, under the specification's names and shapes (section 7). */
export function recordOperations(deps: RecordOperationsDeps): ApiOperation[] {
  return [readRecord(deps), updateUser(deps), completeRecord(deps)];
}

const records = z.array(userRecordSchema).meta(doc('The user records that were found'));
const userList = z.object({ Items: records }).meta({ id: 'UserList', description: 'User records.' });
const userListWithAlias = userList
  .extend({ data: userList.meta(aliasMeta('data')) })
  .meta({ id: 'UserListWithAlias', description: 'User records, at two levels.' });
const recordAnswer = z
  .object({ data: userRecordSchema })
  .meta({ id: 'UserAnswer', description: 'The user record after the change.' });

interface NamedUsers {
  userId?: string | undefined;
  userIds?: readonly string[] | undefined;
}

/** @throws {HttpError} wrongCaller if a member names several */
async function findRecords(
  database: Database,
  req: Request,
  { userId, userIds }: NamedUsers,
): Promise<UserRecordJson[]> {
  if (userIds === undefined) {
    const record = await getUserRecord(database, resolveRequestedUser(req, userId, 'body.userId'));
    return record ? [record] : [];
  }
  if (requirePrincipal(req).kind === 'member') {
    throw new HttpError('wrongCaller', {
      detail: 'a member names several users',
      publicDetail: 'Only services may look up several members.',
    });
  }
  if (userId !== undefined) {
    const invalidParams = [{ name: 'body.userIds', detail: 'send either userId or userIds' }];
    throw new HttpError('validation', { detail: 'userId and userIds', invalidParams });
  }
  return listUserRecords(database, userIds.map(toUserId));
}

const exampleId = '0197c2a4-7b6e-7d31-9f0a-2c4e6a8b0d1f';
const lookUpBody = withDocs(
  z.object({ userId: id.optional(), userIds: z.array(id).min(1).max(maxUsersPerLookup).optional() }),
  {
    userId: namedMemberDoc,
    userIds: doc('For services, in place of `userId`: several members. The answer omits unknown ids', [exampleId]),
  },
).meta({ examples: [{ userId: exampleId }] });

const readRecord = ({ database }: Pick<RecordOperationsDeps, 'database'>) =>
  defineOperation({
    method: 'post',
    path: '/user/listUserWithPoolId',
    id: 'listUserWithPoolId',
    summary: 'Read user records',
    description: 'A member reads their own. A service names one member, or up to 100.',
    body: lookUpBody,
    answer: z
      .object({ data: userListWithAlias.meta(doc('The list')) })
      .meta({ id: 'UserLookUp', description: 'The user records that were found.' }),
    async handle({ req, body }) {
      const list = { Items: await findRecords(database, req, body) };
      return { data: { ...list, data: list } };
    },
  });

const updateUser = ({ database, plans }: Pick<RecordOperationsDeps, 'database' | 'plans'>) =>
  defineOperation({
    method: 'post',
    path: '/user/updateUser',
    id: 'updateUser',
    summary: 'Change to a free plan',
    description:
      'The change happens at once, or at the end of the paid period. Plan and source may be repeated; other values are refused.',
    body: withDocs(
      z.object({
        id,
        planId: idField(planIdSchema.max(100).nullable(), '12').optional(),
        source: z.string().max(50).optional(),
      }),
      { id: recordDocs.id, planId: recordDocs.planId, source: recordDocs.source },
    ),
    answer: recordAnswer,
    problems: { 404: 'No such user record', 409: 'Differs from what is stored' },
    async handle({ req, body }) {
      const named = await findUserRecordById(database.db, body.id);
      const principal = requirePrincipal(req);
      // Records of others look like missing ones, so that ids are not revealed.
      if (!named || (principal.kind === 'member' && named.userId !== principal.userId)) throw missing();
      const user = await findUser(database.db, named.userId);
      if (!user) throw missing();
      const record = toUserRecordJson(user, named);
      const { planId, ...submitted } = body;
      // A plan is paid for, or a partner's, or free: a caller can only select a free one.
      if (planId == null || planId === record.planId || !plans.isFree(planId)) {
        rejectDifferentValue(body, record);
        return { data: record };
      }
      rejectDifferentValue(submitted, record);
      if (!(await plans.choosePlanWithoutPayment(user, planId))) rejectDifferentValue(body, record);
      const after = await getUserRecord(database, named.userId);
      if (!after) throw missing();
      return { data: after };
    },
  });

/** The stored value may be repeated. */
function refuseImageName(
  name: string | null | undefined,
  { stored, mediaUrl }: { stored: string | null; mediaUrl: string | undefined },
): void {
  if (name == null || name === '' || name === stored || isImageName(name, mediaUrl)) return;
  const detail = 'a path without .. below MEDIA_URL, or an address there';
  throw new HttpError('validation', {
    detail: 'body.imageName',
    invalidParams: [{ name: 'body.imageName', detail }],
  });
}

const completeRecord = ({ database, saveProfile, mediaUrl, now }: RecordOperationsDeps) =>
  defineOperation({
    method: 'post',
    path: '/user/signup/plan',
    id: 'signUpPlan',
    summary: 'Complete a user record',
    description: 'Changes the fields that the body names. Values that Foyer decides may be repeated, not changed.',
    body: withDocs(userRecordBody, userRecordDocs),
    answer: recordAnswer,
    problems: { 404: 'No such member', 409: 'Differs from what is stored' },
    async handle({ req, body }) {
      const userId = resolveRequestedUser(req, body.userId, 'body.userId');
      const user = await findUser(database.db, userId);
      if (!user) throw missing();
      const stored = await database.transaction(async (trx) => {
        const record = toUserRecordJson(user, await insertUserRecord(trx, userId, now()));
        rejectDifferentValue(body, record);
        return record;
      });
      const { firstName, lastName, jobTitle, company, ...record } = described.parse(body);
      refuseImageName(record.imageName, { stored: stored.imageName, mediaUrl });
      await saveProfile(user, {
        req,
        // The answer has null for missing fields.
        typed: {
          givenName: firstName,
          familyName: lastName,
          jobTitle: jobTitle === null ? '' : jobTitle,
          companyName: company === null ? '' : company,
        },
        names: { givenName: 'firstName', familyName: 'lastName', jobTitle: 'jobTitle', companyName: 'company' },
        async alongside(trx) {
          await updateUserRecord(trx, userId, { change: record, nowMs: now() });
          // One that nothing names any more.
          if (record.imageName !== undefined) await deleteUploaded(trx, userId, record.imageName);
        },
      });
      const after = await getUserRecord(database, userId);
      if (!after) throw missing();
      return { data: after };
    },
  });
