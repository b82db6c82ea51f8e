import { z } from 'zod';
import type { HostCookies } from '../http/index.ts';
import type { Codes } from '../messages/index.ts';
import { hourMs, userIdSchema } from '../shared/index.ts';
import { type BrowserRecords, browserRecords, type KeyValueStore, type RecordCookie } from '../store/index.ts';
import type { User } from '../users/index.ts';

const schema = z.object({
  /** A keyed digest of the typed identifier, normalized. */
  account: z.string(),
  /** Null: the user does not exist, and the visitor does not learn that. */
  user: z.object({ id: userIdSchema, emailHash: z.string(), passwordEpoch: z.number() }).nullable(),
  /** The known device of the user, if this is one. */
  device: z.string().optional(),
  /** Until when the code need not be entered again: it was right, but the password could not be used. */
  provenUntilMs: z.number().optional(),
  /** Time of the last code. */
  sentAtMs: z.number(),
});

/** The reset of one browser (or of one caller of the JSON API). It contains no addresses. */
export type ResetRecord = z.infer<typeof schema>;

export type ResetRecords = BrowserRecords<ResetRecord> & RecordCookie;

const ttlMs = hourMs;

export const createResetRecords = (kv: KeyValueStore, cookies: HostCookies): ResetRecords =>
  browserRecords({ kv, kind: 'reset-flow', schema, ttlMs, cookie: { cookies, name: 'foyer_reset', maxAgeMs: ttlMs } });

/** The name of an account in a flow: the address could be found from a plain hash. */
export const accountDigest = (codes: Pick<Codes, 'messageGroup'>, account: string): string =>
  codes.messageGroup({ purpose: 'reset-password', account });

/** The state of a user for a flow: a new password or address invalidates it. */
export const toResetOwner = (
  codes: Pick<Codes, 'messageGroup'>,
  { id, email, passwordEpoch }: User,
): NonNullable<ResetRecord['user']> => ({
  id,
  emailHash: accountDigest(codes, email),
  passwordEpoch,
});

/** Tests whether the user is unchanged since the flow started, and may have a new password. */
export function isOwnerUnchanged(
  codes: Pick<Codes, 'messageGroup'>,
  { user }: ResetRecord,
  member: User | undefined,
): member is User {
  if (!user || !member || member.disabledAt !== null) return false;
  const { id, emailHash, passwordEpoch } = toResetOwner(codes, member);
  return id === user.id && emailHash === user.emailHash && passwordEpoch === user.passwordEpoch;
}
