import type { Kysely, Transaction } from 'kysely';
import { z } from 'zod';
import { type UpstreamIdentity, upstreamIdentitySchema } from '../federation/index.ts';
import { type Language, languages } from '../http/index.ts';
import { clientIdSchema, type NormalisedEmail, type PlanKey, sha256Schema, type UserId } from '../shared/index.ts';
import { type Db, parseStored, prepareOnce, type Row, type Schema, uuidv7 } from '../store/index.ts';

const termsSchema = z.object({
  version: z.number(),
  label: z.string(),
  lang: z.enum(languages),
  textHash: sha256Schema,
  ip: z.string().nullable(),
  userAgent: z.string().nullable(),
  clientId: clientIdSchema.nullable(),
});

/** The terms beside the submitted form, and the place of its submission. */
type PresentedTerms = z.infer<typeof termsSchema>;

/** An unconfirmed sign-up (see the table `sign_ups`). */
export type SignUp = Pick<
  Row<'signUps'>,
  'id' | 'email' | 'givenName' | 'familyName' | 'passwordHash' | 'source' | 'planKey' | 'state' | 'userId' | 'zoneinfo'
> & {
  /** The identity at the provider with which it was started. */
  identity: UpstreamIdentity | null;
  lang: Language;
  /** null: not accepted yet; the user is asked later. */
  terms: PresentedTerms | null;
  /** The query of the continuation (`Continuation.search`). */
  continuation: string;
};

/** How long a sign-up can be continued. */
export const signUpTtlMs = 7 * 24 * 60 * 60_000;

function toSignUp(row: Row<'signUps'>): SignUp {
  const { locale, errand: continuation, createdAt: _, updatedAt: __, expiresAt: ___, ...columns } = row;
  return {
    ...columns,
    identity: row.identity === null ? null : parseStored(upstreamIdentitySchema, row.identity),
    lang: locale as Language,
    terms: parseStored(termsSchema.nullable(), row.terms),
    continuation,
  };
}

export async function insertSignUp(
  trx: Transaction<Schema>,
  { identity, lang, terms, continuation, ...signUp }: Omit<SignUp, 'id' | 'userId'>,
  nowMs: number,
): Promise<SignUp> {
  const row = await trx
    .insertInto('signUps')
    .values({
      ...signUp,
      id: uuidv7(nowMs),
      identity: identity && JSON.stringify(identity),
      locale: lang,
      terms: JSON.stringify(terms),
      errand: continuation,
      createdAt: nowMs,
      updatedAt: nowMs,
      expiresAt: nowMs + signUpTtlMs,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toSignUp(row);
}

export async function findSignUp(db: Db, id: string, nowMs: number): Promise<SignUp | undefined> {
  const row = await db
    .selectFrom('signUps')
    .selectAll()
    .where('id', '=', id)
    .where('expiresAt', '>', nowMs)
    .executeTakeFirst();
  return row && toSignUp(row);
}

/** The handle of the plan in the address at which a user's sign-up started. */
export async function findChosenPlanKey(db: Db, userId: UserId, nowMs: number): Promise<PlanKey | undefined> {
  const row = await db
    .selectFrom('signUps')
    .select('planKey')
    .where('userId', '=', userId)
    .where('expiresAt', '>', nowMs)
    .executeTakeFirst();
  return row?.planKey ?? undefined;
}

const selectNewestUnverified = prepareOnce<{ email: NormalisedEmail; nowMs: number }, Row<'signUps'>>((db, v) =>
  db
    .selectFrom('signUps')
    .selectAll()
    .where('email', '=', v.email)
    .where('identity', 'is', null)
    .where('state', '!=', 'confirmed')
    .where('expiresAt', '>', v.nowMs)
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .limit(1),
);

/**
 * The newest unconfirmed sign-up with this address and a password. Sign-ups with a provider have none: a password
 * cannot open them, and they do not hide an older one with a password.
 */
export async function findNewestUnverified(db: Db, email: NormalisedEmail, nowMs: number): Promise<SignUp | undefined> {
  const [row] = (await selectNewestUnverified(db, { email, nowMs })).rows;
  return row && toSignUp(row);
}

/**
 * It has become this user. Its password, or its identity at a provider, belongs to the user now and is deleted here.
 * @returns false if it was confirmed before
 */
export async function markConfirmed(
  trx: Transaction<Schema>,
  id: string,
  { userId, nowMs }: { userId: UserId; nowMs: number },
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('signUps')
    .set({ state: 'confirmed', userId, passwordHash: '', identity: null, updatedAt: nowMs })
    .where('id', '=', id)
    .where('state', '=', 'begun')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Restarts the expiry when the visitor returns to it. */
export async function extendSignUp(db: Db, id: string, nowMs: number): Promise<void> {
  await db
    .updateTable('signUps')
    .set({ expiresAt: nowMs + signUpTtlMs, updatedAt: nowMs })
    .where('id', '=', id)
    .execute();
}

/** Deletes some expired ones. Returns the number. */
export async function deleteExpired(db: Kysely<Schema>, nowMs: number, max: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('signUps')
    .where('id', 'in', (from) => from.selectFrom('signUps').select('id').where('expiresAt', '<=', nowMs).limit(max))
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** The sign-ups with a user's address, for the export. Times in milliseconds since the epoch. */
export async function listSignUps(
  db: Db,
  who: { id: UserId; email: NormalisedEmail },
): Promise<Record<string, unknown>[]> {
  const rows = await db
    .selectFrom('signUps')
    .selectAll()
    .where(({ or, eb }) => or([eb('userId', '=', who.id), eb('email', '=', who.email)]))
    .orderBy('createdAt')
    .execute();
  return rows.map((row) => {
    const { passwordHash: _, userId: __, ...started } = toSignUp(row);
    return { ...started, createdAt: row.createdAt, expiresAt: row.expiresAt };
  });
}

export async function eraseSignUps(
  trx: Transaction<Schema>,
  who: { id: UserId; email: NormalisedEmail },
): Promise<void> {
  await trx
    .deleteFrom('signUps')
    .where(({ or, eb }) => or([eb('userId', '=', who.id), eb('email', '=', who.email)]))
    .execute();
}
