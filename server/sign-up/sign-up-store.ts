import type { Kysely, Selectable, Transaction } from 'kysely';
import { z } from 'zod';
import { type UpstreamIdentity, upstreamIdentitySchema } from '../federation/index.ts';
import { type Language, languages } from '../http/index.ts';
import { clientIdSchema, type NormalisedEmail, type PlanKey, sha256Schema, type UserId } from '../shared/index.ts';
import { type Db, parseStored, type Schema, type SignUpTable, uuidv7 } from '../store/index.ts';

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
export type PresentedTerms = z.infer<typeof termsSchema>;

/** An unconfirmed sign-up (see the table `sign_ups`). */
export interface SignUp {
  id: string;
  email: NormalisedEmail;
  givenName: string;
  familyName: string;
  /** '' if it was started with a provider. */
  passwordHash: string;
  /** The identity at the provider with which it was started. */
  identity: UpstreamIdentity | null;
  lang: Language;
  source: 'general' | 'appsumo';
  /** The public handle of the plan in the address. */
  planKey: PlanKey | null;
  /** null: not accepted yet; the user is asked later. */
  terms: PresentedTerms | null;
  /** The query of the continuation (`Continuation.search`). */
  continuation: string;
  state: 'begun' | 'confirmed' | 'decoy';
  userId: UserId | null;
}

/** How long a sign-up can be continued. */
export const signUpTtlMs = 7 * 24 * 60 * 60_000;

function fromRow(row: Selectable<SignUpTable>): SignUp {
  return {
    id: row.id,
    email: row.email,
    givenName: row.given_name,
    familyName: row.family_name,
    passwordHash: row.password_hash,
    identity: row.identity === null ? null : parseStored(upstreamIdentitySchema, row.identity),
    lang: row.locale as Language,
    source: row.source === 'appsumo' ? 'appsumo' : 'general',
    planKey: row.plan_key,
    terms: parseStored(termsSchema.nullable(), row.terms),
    continuation: row.errand,
    state: row.state as SignUp['state'],
    userId: row.user_id,
  };
}

export async function insertSignUp(
  trx: Transaction<Schema>,
  signUp: Omit<SignUp, 'id' | 'userId'>,
  nowMs: number,
): Promise<SignUp> {
  const row: Selectable<SignUpTable> = {
    id: uuidv7(nowMs),
    email: signUp.email,
    given_name: signUp.givenName,
    family_name: signUp.familyName,
    password_hash: signUp.passwordHash,
    identity: signUp.identity === null ? null : JSON.stringify(signUp.identity),
    locale: signUp.lang,
    source: signUp.source,
    plan_key: signUp.planKey,
    terms: JSON.stringify(signUp.terms),
    errand: signUp.continuation,
    state: signUp.state,
    user_id: null,
    created_at: nowMs,
    updated_at: nowMs,
    expires_at: nowMs + signUpTtlMs,
  };
  await trx.insertInto('sign_ups').values(row).execute();
  return fromRow(row);
}

export async function findSignUp(db: Db, id: string, nowMs: number): Promise<SignUp | undefined> {
  const row = await db
    .selectFrom('sign_ups')
    .selectAll()
    .where('id', '=', id)
    .where('expires_at', '>', nowMs)
    .executeTakeFirst();
  return row && fromRow(row);
}

/** The handle of the plan in the address at which a user's sign-up started. */
export async function findChosenPlanKey(db: Db, userId: UserId, nowMs: number): Promise<PlanKey | undefined> {
  const row = await db
    .selectFrom('sign_ups')
    .select('plan_key')
    .where('user_id', '=', userId)
    .where('expires_at', '>', nowMs)
    .executeTakeFirst();
  return row?.plan_key ?? undefined;
}

/**
 * The newest unconfirmed sign-up with this address and a password. Sign-ups with a provider have none: a password
 * cannot open them, and they do not hide an older one with a password.
 */
export async function findNewestUnverified(db: Db, email: NormalisedEmail, nowMs: number): Promise<SignUp | undefined> {
  const row = await db
    .selectFrom('sign_ups')
    .selectAll()
    .where('email', '=', email)
    .where('identity', 'is', null)
    .where('state', '!=', 'confirmed')
    .where('expires_at', '>', nowMs)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && fromRow(row);
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
    .updateTable('sign_ups')
    .set({ state: 'confirmed', user_id: userId, password_hash: '', identity: null, updated_at: nowMs })
    .where('id', '=', id)
    .where('state', '=', 'begun')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Restarts the expiry when the visitor returns to it. */
export async function extendSignUp(db: Db, id: string, nowMs: number): Promise<void> {
  await db
    .updateTable('sign_ups')
    .set({ expires_at: nowMs + signUpTtlMs, updated_at: nowMs })
    .where('id', '=', id)
    .execute();
}

/** Deletes some expired ones. Returns the number. */
export async function deleteExpired(db: Kysely<Schema>, nowMs: number, max: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('sign_ups')
    .where('id', 'in', (from) => from.selectFrom('sign_ups').select('id').where('expires_at', '<=', nowMs).limit(max))
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** The sign-ups with a user's address, for the export. Times in milliseconds since the epoch. */
export async function listSignUps(
  db: Db,
  who: { id: UserId; email: NormalisedEmail },
): Promise<Record<string, unknown>[]> {
  const rows = await db
    .selectFrom('sign_ups')
    .selectAll()
    .where(({ or, eb }) => or([eb('user_id', '=', who.id), eb('email', '=', who.email)]))
    .orderBy('created_at')
    .execute();
  return rows.map((row) => {
    const { passwordHash: _, userId: __, ...started } = fromRow(row);
    return { ...started, createdAt: row.created_at, expiresAt: row.expires_at };
  });
}

export async function eraseSignUps(
  trx: Transaction<Schema>,
  who: { id: UserId; email: NormalisedEmail },
): Promise<void> {
  await trx
    .deleteFrom('sign_ups')
    .where(({ or, eb }) => or([eb('user_id', '=', who.id), eb('email', '=', who.email)]))
    .execute();
}
