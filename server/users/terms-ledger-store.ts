import type { Kysely, Transaction } from 'kysely';
import type { UserId } from '../shared/index.ts';
import { type Row, type Schema, uuidv7 } from '../store/index.ts';

/** The accepted version of the terms, and the place: evidence in case of doubt. */
type TermsAcceptance = Omit<Row<'termsAcceptances'>, 'id' | 'acceptedAt'>;

/** Maximum stored length of a User-Agent. */
export const maxUserAgentLength = 500;

/** Writes the acceptance into the ledger and to the user, whose version decides when they are asked again. */
export async function recordAcceptance(
  trx: Transaction<Schema>,
  acceptance: TermsAcceptance,
  nowMs: number,
): Promise<void> {
  await trx
    .insertInto('termsAcceptances')
    .values({
      ...acceptance,
      id: uuidv7(nowMs),
      userAgent: acceptance.userAgent?.slice(0, maxUserAgentLength) ?? null,
      acceptedAt: nowMs,
    })
    .execute();
  await trx
    .updateTable('users')
    .set({ acceptedTosVersion: acceptance.version, acceptedTosAt: nowMs, updatedAt: nowMs })
    .where('id', '=', acceptance.userId)
    .execute();
}

/** A user's acceptances, oldest first. */
export async function listTermsAcceptances(
  db: Kysely<Schema>,
  userId: UserId,
): Promise<Omit<Row<'termsAcceptances'>, 'id' | 'userId'>[]> {
  return db
    .selectFrom('termsAcceptances')
    .select(['version', 'label', 'lang', 'textHash', 'ip', 'userAgent', 'clientId', 'acceptedAt'])
    .where('userId', '=', userId)
    .orderBy('acceptedAt')
    .orderBy('id')
    .execute();
}
