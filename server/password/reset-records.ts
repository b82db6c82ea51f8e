import { z } from 'zod';
import type { Codes } from '../codes/index.ts';
import type { HostCookies } from '../http/index.ts';
import { hourMs } from '../shared/index.ts';
import { type BrowserRecords, browserRecords, type KeyValueStore, type RecordCookie } from '../store/index.ts';
import type { User } from '../users/index.ts';

const schema = z.object({
  /** A keyed digest of what was typed, normalised. */
  account: z.string(),
  /** Null: there is no such member, and the visitor is not told. */
  user: z.object({ id: z.string(), emailHash: z.string(), passwordEpoch: z.number() }).nullable(),
  /** The device from which the member has signed in before, when this is one. */
  device: z.string().optional(),
  /** Until when the code need not be shown again: it was right, but what came with it could not be used. */
  provenUntilMs: z.number().optional(),
  /** When the last code was sent. */
  sentAtMs: z.number(),
});

/** The way of one browser (or of one caller of the JSON API) from a forgotten password to a new one. No addresses in it. */
export type ResetRecord = z.infer<typeof schema>;

export type ResetRecords = BrowserRecords<ResetRecord> & RecordCookie;

const ttlMs = hourMs;

export const createResetRecords = (kv: KeyValueStore, cookies: HostCookies): ResetRecords =>
  browserRecords({ kv, kind: 'reset-flow', schema, ttlMs, cookie: { cookies, name: 'foyer_reset', maxAgeMs: ttlMs } });

/** An account as a flow names it: from a plain hash the address could be guessed. */
export const accountDigest = (codes: Pick<Codes, 'messageGroup'>, account: string): string =>
  codes.messageGroup({ purpose: 'reset-password', account });

/** What a flow remembers of a member: any other password or address since, and it is dead. */
export const toResetOwner = (
  codes: Pick<Codes, 'messageGroup'>,
  { id, email, passwordEpoch }: User,
): NonNullable<ResetRecord['user']> => ({
  id,
  emailHash: accountDigest(codes, email),
  passwordEpoch,
});

/** Whether the member is still the one for whom the flow began, and may have a new password. */
export function isOwnerUnchanged(
  codes: Pick<Codes, 'messageGroup'>,
  { user }: ResetRecord,
  member: User | undefined,
): member is User {
  if (!user || !member || member.disabledAt !== null) return false;
  const { id, emailHash, passwordEpoch } = toResetOwner(codes, member);
  return id === user.id && emailHash === user.emailHash && passwordEpoch === user.passwordEpoch;
}
