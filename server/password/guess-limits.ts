import { createHmac } from 'node:crypto';
import {
  consumeLimits,
  type LimitDecision,
  type LimitStore,
  type RateLimits,
  toCounterKey,
} from '../rate-limits/index.ts';
import type { KeyValueStore } from '../store/index.ts';
import type { User } from '../users/index.ts';

/** How often a password may be guessed, checked and reset. */
export interface GuessLimits
  extends Pick<
    RateLimits,
    | 'passwordGuess'
    | 'knownDevicePasswordGuess'
    | 'passwordCheck'
    | 'knownDevicePasswordCheck'
    | 'resetCode'
    | 'knownDeviceResetCode'
    | 'resetCodeGuess'
    | 'knownDeviceResetCodeGuess'
  > {
  /** Of the HMAC under which accounts are counted: addresses and numbers could be found from any plain hash. */
  key: Buffer;
}

export interface PasswordGuess {
  /** What was typed, normalised: counted whether or not such a member exists, so that the count tells nothing. */
  identifier: string;
  ip: string;
  /** The known device's id, when this browser has signed in to this account before. */
  device?: string | undefined;
}

export type GuessDecision = LimitDecision<'address' | 'account' | 'device' | 'overall'>;

const toDigest = ({ key }: GuessLimits, account: string): string =>
  createHmac('sha256', key).update(account).digest('base64url').slice(0, 32);

/**
 * Counts a guess at a password. A known device is counted alone: whatever strangers do elsewhere, the member still signs in
 * from their own browser. Many sign-ins with the right password at once leave nothing behind.
 */
export function consumePasswordGuess(
  kv: LimitStore,
  limits: GuessLimits,
  { identifier, ip, device }: PasswordGuess,
): Promise<GuessDecision> {
  const account = toDigest(limits, identifier);
  return device === undefined
    ? consumeLimits(kv, limits.passwordGuess, { address: ip, account })
    : consumeLimits(kv, limits.knownDevicePasswordGuess, { device: `${device}:${account}` });
}

/**
 * Deletes the counts of guesses and of right passwords of a member: they have proved their mailbox and have a new password,
 * which nobody has tried yet. The right passwords before it may have been those of a thief.
 */
export async function forgetGuesses(
  kv: Pick<KeyValueStore, 'delete'>,
  limits: GuessLimits,
  { id, email, phone }: Pick<User, 'id' | 'email' | 'phone'>,
): Promise<void> {
  const ofAccount = ({ counters }: GuessLimits['passwordGuess' | 'passwordCheck'], account: string) =>
    counters.filter(({ by }) => by === 'account').map((counter) => toCounterKey(counter, toDigest(limits, account)));
  const identifiers = [email, ...(phone === null ? [] : [phone])];
  const guesses = identifiers.flatMap((identifier) => ofAccount(limits.passwordGuess, identifier));
  await kv.delete(...guesses, ...ofAccount(limits.passwordCheck, id));
}

/**
 * Counts a check of a password as work, before it is done; a wrong one is counted as a guess alone. Nobody but those who
 * know the password fill these counters, so they tell a stranger nothing.
 */
export function admitCheck(
  kv: LimitStore,
  limits: GuessLimits,
  { identifier, userId, device }: PasswordGuess & { userId?: string | undefined },
): Promise<GuessDecision> {
  const account = toDigest(limits, userId ?? identifier);
  return device === undefined
    ? consumeLimits(kv, limits.passwordCheck, { account })
    : consumeLimits(kv, limits.knownDevicePasswordCheck, { device: `${device}:${account}`, account });
}
