import { z } from 'zod';
import {
  HttpError,
  jsonField,
  malformed,
  malformedLines,
  memberMeant,
  type Operation,
  operation,
  principalOf,
} from '../http/index.ts';
import type { Database } from '../store/index.ts';
import { isImageName } from './image-name.ts';
import { readRecord } from './read-record.ts';
import type { SaveProfile } from './save-profile.ts';
import type { User } from './user.ts';
import { findUserRecordById, insertUserRecord, updateUserRecord } from './user-record-store.ts';
import { findUser } from './user-store.ts';
import { toWire, type WireRecord, wireRecord } from './wire-record.ts';

/** Both faults have a text of their own: which of them it is helps the caller. */
const checked = (most: number, isMalformed: typeof malformed) =>
  z
    .string()
    .max(most, `at most ${most} characters`)
    .refine((value) => !isMalformed(value, value.length), 'characters that are not accepted');
const text = (most: number) => checked(most, malformed);
const id = text(100).min(1);
/** Text of several lines. */
const lines = (most: number) => checked(most, malformedLines);
const someJson = jsonField(4_000);
/** What a caller may describe, and what the house alone decides: the latter may be repeated, not changed. */
const described = z.object({
  firstName: text(100).optional(),
  lastName: text(100).optional(),
  jobTitle: text(200).nullable().optional(),
  company: text(200).nullable().optional(),
  about: lines(4_000).optional(),
  additionalAttributes: someJson.optional(),
  imageName: text(300).nullable().optional(),
  notificationSetting: someJson.optional(),
  socialMediaLinks: someJson.optional(),
  companyCategory: text(200).nullable().optional(),
  userType: text(100).nullable().optional(),
});
const decided = ['planId', 'source', 'stripeCustomerId', 'status', 'totalRewards', 'username'] as const;
const userRecordBody = described.extend({
  userId: id.optional(),
  planId: z.string().nullable().optional(),
  source: z.string().optional(),
  stripeCustomerId: z.string().nullable().optional(),
  status: z.string().optional(),
  totalRewards: z.string().optional(),
  username: z.string().optional(),
});

/** What membership/ decides of plans; `app.ts` hands it in, because that room stands above this one. */
export interface PlanChanges {
  isFree(planId: string): boolean;
  /** Gives a member a free plan, at once or when what is paid ends. @returns false: they have one for life. @throws {HttpError} */
  takeFree(user: User, planId: string): Promise<boolean>;
}

/** What the house decides is refused when it is said otherwise. */
function refuseOtherwise(said: Partial<Record<string, unknown>>, true_: WireRecord): void {
  const wrong = decided.filter((name) => said[name] !== undefined && said[name] !== true_[name]);
  if (wrong.length > 0) {
    throw new HttpError('conflict', {
      detail: `differs from what is stored: ${wrong.join(', ')}`,
      faults: wrong.map((name) => ({ name: `body.${name}`, detail: 'differs from what is stored' })),
    });
  }
}

/** The calls on user records, under the specification's names and shapes (section 7). */
export function recordOperations({
  database,
  plans,
  saveProfile,
  mediaUrl,
  now,
}: {
  database: Database;
  plans: PlanChanges;
  saveProfile: SaveProfile;
  mediaUrl: string | undefined;
  now: () => number;
}): Operation[] {
  const missing = () => new HttpError('notFound', { detail: 'no such user record' });
  /** A value that is stored already may be repeated. */
  const refuseImageName = (name: string | null | undefined, stored: string | null) => {
    if (name == null || name === '' || name === stored || isImageName(name, mediaUrl)) return;
    const detail = 'a path without .. below MEDIA_URL, or an address there';
    throw new HttpError('validation', { detail: 'body.imageName', faults: [{ name: 'body.imageName', detail }] });
  };

  return [
    operation({
      method: 'post',
      path: '/user/listUserWithPoolId',
      id: 'listUserWithPoolId',
      summary: "A member's user record; client apps name the member",
      body: z.object({ userId: id.optional() }),
      answer: z.object({ data: z.object({ Items: z.array(wireRecord) }) }),
      async handle({ req, body }) {
        const record = await readRecord(database, memberMeant(req, body.userId, 'body.userId'));
        return { data: { Items: record ? [record] : [] } };
      },
    }),
    operation({
      method: 'post',
      path: '/user/updateUser',
      id: 'updateUser',
      summary:
        'Changes to a free plan, at once or when what is paid ends; confirms the plan and the source: other values are refused',
      body: z.object({ id, planId: z.string().max(100).nullable().optional(), source: z.string().max(50).optional() }),
      answer: z.object({ data: wireRecord }),
      problems: { 404: 'No such user record', 409: 'Differs from what is stored' },
      async handle({ req, body }) {
        const named = await findUserRecordById(database.db, body.id);
        const principal = principalOf(req);
        // Records of others are as good as none, so that nobody learns which ids there are.
        if (!named || (principal.kind === 'member' && named.userId !== principal.userId)) throw missing();
        const user = await findUser(database.db, named.userId);
        if (!user) throw missing();
        const record = toWire(user, named);
        const { planId, ...said } = body;
        // A plan is paid for, or a partner's, or free: only the last is anybody's to take by saying so.
        if (planId == null || planId === record.planId || !plans.isFree(planId)) {
          refuseOtherwise(body, record);
          return { data: record };
        }
        refuseOtherwise(said, record);
        if (!(await plans.takeFree(user, planId))) refuseOtherwise(body, record);
        const after = await readRecord(database, named.userId);
        if (!after) throw missing();
        return { data: after };
      },
    }),
    operation({
      method: 'post',
      path: '/user/signup/plan',
      id: 'signUpPlan',
      summary: 'Completes a user record with what a member tells of themselves',
      body: userRecordBody,
      answer: z.object({ data: wireRecord }),
      problems: { 404: 'No such member', 409: 'Differs from what is stored' },
      async handle({ req, body }) {
        const userId = memberMeant(req, body.userId, 'body.userId');
        const user = await findUser(database.db, userId);
        if (!user) throw missing();
        const stored = await database.transaction(async (trx) => {
          const record = toWire(user, await insertUserRecord(trx, userId, now()));
          refuseOtherwise(body, record);
          return record;
        });
        const { firstName, lastName, jobTitle, company, ...record } = described.parse(body);
        refuseImageName(record.imageName, stored.imageName);
        await saveProfile(user, {
          req,
          // null is what the answer has where nothing was told.
          typed: {
            givenName: firstName,
            familyName: lastName,
            jobTitle: jobTitle === null ? '' : jobTitle,
            companyName: company === null ? '' : company,
          },
          names: { givenName: 'firstName', familyName: 'lastName', jobTitle: 'jobTitle', companyName: 'company' },
          alongside: (trx) => updateUserRecord(trx, userId, record, now()),
        });
        const after = await readRecord(database, userId);
        if (!after) throw missing();
        return { data: after };
      },
    }),
  ];
}
