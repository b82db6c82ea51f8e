import { type Admission, admit, byNetwork, type GuessLimits } from '../password/index.ts';
import { sha256 } from '../shared/index.ts';
import type { KeyValueStore } from '../store/index.ts';

const dayMs = 24 * 60 * 60_000;

/** Guesses at one challenge, of whatever method. */
export const mostPerChallenge = 5;
/** Wrong codes of six digits at one member within a day, over all challenges, from browsers that the member has not used. */
const mostPerAccount = 20;
/** From one browser that the member has signed in with before. */
const mostPerDevice = 10;
/** From all of these together: whoever knew the password before there was a second factor may have collected many. */
const mostFromDevices = 25;

export interface CodeGuess {
  userId: string;
  ip: string;
  /** The known device's id, when this browser has signed in to this account before. */
  device?: string | undefined;
}

/**
 * Counts a guess at a code of six digits, before it is looked at. An authenticator's code has three right values at any
 * moment: 20 guesses a day find one of them in 45 years. Known devices are counted apart, so that strangers who have the
 * password lock nobody out of their own browser.
 */
export async function admitCode(
  kv: KeyValueStore,
  limits: GuessLimits,
  { userId, ip, device }: CodeGuess,
): Promise<Admission> {
  if (device !== undefined) {
    return admit(kv, dayMs, [
      ['device', `mfa-guess:device:${device}:${userId}`, mostPerDevice],
      ['account', `mfa-guess:devices:${userId}`, mostFromDevices],
    ]);
  }
  const network = await admitFromNetwork(kv, limits, 'mfa-guess', ip);
  if (!network.admitted) return network;
  const account = await admit(kv, dayMs, [['account', `mfa-guess:account:${userId}`, mostPerAccount]]);
  if (!account.admitted) {
    await network.uncount();
    return account;
  }
  return {
    admitted: true,
    slowed: network.slowed,
    async uncount() {
      await Promise.all([network.uncount(), account.uncount()]);
    },
  };
}

/** A recovery code has 80 bits: nobody guesses one, and whoever tries must not keep the member from using theirs. */
export function admitRecoveryCode(
  kv: KeyValueStore,
  limits: GuessLimits,
  { ip }: Pick<CodeGuess, 'ip'>,
): Promise<Admission> {
  return admitFromNetwork(kv, limits, 'mfa-recovery', ip);
}

function admitFromNetwork(kv: KeyValueStore, limits: GuessLimits, what: string, ip: string): Promise<Admission> {
  return admit(kv, limits.windowMs, [
    ...byNetwork(`${what}:address`, ip, limits.address),
    ['overall', `${what}:overall`, limits.overall, limits.slow],
  ]);
}

/** Counts a guess at a challenge. @returns how many are left after it; negative: it must not be looked at */
export async function guessesLeft(kv: KeyValueStore, id: string, challengeMs: number): Promise<number> {
  const { count } = await kv.increment(`mfa-challenge-guesses:${sha256(id)}`, challengeMs);
  return mostPerChallenge - count;
}
