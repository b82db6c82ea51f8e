import type { Kysely, Transaction } from 'kysely';
import type { ClientId, Sha256, UserId } from '../shared/index.ts';
import { type Schema, uuidv7 } from '../store/index.ts';

/** The accepted version of the terms, and the place: evidence in case of doubt. */
export interface TermsAcceptance {
  userId: UserId;
  version: number;
  label: string;
  /** The language of the shown text. */
  lang: string;
  /** SHA-256 (base64url) of the shown text. */
  textHash: Sha256;
  ip: string | null;
  userAgent: string | null;
  /** The client app with a pending request. */
  clientId: ClientId | null;
}

/** Maximum stored length of a User-Agent. */
export const maxUserAgentLength = 500;

/** Writes the acceptance into the ledger and to the user, whose version decides when they are asked again. */
export async function recordAcceptance(
  trx: Transaction<Schema>,
  acceptance: TermsAcceptance,
  nowMs: number,
): Promise<void> {
  await trx
    .insertInto('terms_acceptances')
    .values({
      id: uuidv7(nowMs),
      user_id: acceptance.userId,
      version: acceptance.version,
      label: acceptance.label,
      lang: acceptance.lang,
      text_hash: acceptance.textHash,
      ip: acceptance.ip,
      user_agent: acceptance.userAgent?.slice(0, maxUserAgentLength) ?? null,
      client_id: acceptance.clientId,
      accepted_at: nowMs,
    })
    .execute();
  await trx
    .updateTable('users')
    .set({ accepted_tos_version: acceptance.version, accepted_tos_at: nowMs, updated_at: nowMs })
    .where('id', '=', acceptance.userId)
    .execute();
}

/** A user's acceptances, oldest first. */
export async function listTermsAcceptances(
  db: Kysely<Schema>,
  userId: UserId,
): Promise<(TermsAcceptance & { acceptedAt: number })[]> {
  const rows = await db
    .selectFrom('terms_acceptances')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('accepted_at')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    userId: row.user_id,
    version: row.version,
    label: row.label,
    lang: row.lang,
    textHash: row.text_hash,
    ip: row.ip,
    userAgent: row.user_agent,
    clientId: row.client_id,
    acceptedAt: row.accepted_at,
  }));
}
