import type { User } from '../account/index.ts';
import { type Codes, createFlowStore, type FlowStore } from '../codes/index.ts';
import type { HostCookies } from '../http/index.ts';
import type { KeyValueStore } from '../store/index.ts';

/** The way of one browser (or of one caller of the JSON API) from a forgotten password to a new one. No addresses in it. */
export interface ResetFlow {
  /** A keyed digest of what was typed, normalised. */
  account: string;
  /** Null: there is no such member, and whoever asked is not told. */
  user: { id: string; emailHash: string; passwordEpoch: number } | null;
  /** The device from which the member has signed in before, when this is one. */
  device?: string | undefined;
  /** Until when the code need not be shown again: it was right, but what came with it could not be used. */
  provenUntilMs?: number | undefined;
  /** When the last code was sent. */
  sentAtMs: number;
}

export type ResetFlows = FlowStore<ResetFlow>;

const keptMs = 60 * 60_000;

export const createResetFlows = (kv: KeyValueStore, cookies: HostCookies): ResetFlows =>
  createFlowStore(kv, cookies, {
    kind: 'reset-flow',
    cookie: { name: 'foyer_reset', maxAgeMs: keptMs },
    keptMs,
  });

/** An account as a flow names it: from a plain hash the address could be guessed. */
export const accountDigest = (codes: Pick<Codes, 'groupOf'>, account: string): string =>
  codes.groupOf({ purpose: 'reset-password', account });

/** What a flow remembers of a member: any other password or address since, and it is dead. */
export const ownerOf = (
  codes: Pick<Codes, 'groupOf'>,
  { id, email, passwordEpoch }: User,
): NonNullable<ResetFlow['user']> => ({
  id,
  emailHash: accountDigest(codes, email),
  passwordEpoch,
});

/** Whether the member is still the one for whom the flow began, and may have a new password. */
export function isStillTheirs(
  codes: Pick<Codes, 'groupOf'>,
  { user }: ResetFlow,
  member: User | undefined,
): member is User {
  if (!user || !member || member.disabledAt !== null) return false;
  const { id, emailHash, passwordEpoch } = ownerOf(codes, member);
  return id === user.id && emailHash === user.emailHash && passwordEpoch === user.passwordEpoch;
}
