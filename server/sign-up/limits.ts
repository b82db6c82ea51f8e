import { type Admission, admit, byNetwork, ofMails, type SlowLane } from '../password/index.ts';
import type { KeyValueStore } from '../store/index.ts';

/** How many accounts may be begun within one window. */
export interface SignUpLimits {
  windowMs: number;
  /** From one address (IPv6: one /64 network); wider networks have more, as `countedNetworks` says. */
  address: number;
  /** From one, by providers that vouch for addresses of their own: the colleagues of an office. */
  company: number;
  /** From all together; more are slowed down. Each code by mail proves that its visitor is no machine without a mailbox. */
  overall: number;
  slow: SlowLane;
}

/** Counts an account before it is begun, so that many at once cannot slip past. */
export function admitSignUp(
  kv: KeyValueStore,
  limits: SignUpLimits,
  { ip, company = false }: { ip: string; company?: boolean },
): Promise<Admission> {
  return admit(kv, limits.windowMs, [
    ...(company ? byNetwork('sign-up:company', ip, limits.company) : byNetwork('sign-up:address', ip, limits.address)),
    ['overall', 'sign-up:overall', limits.overall, ofMails(limits.slow)],
  ]);
}

/** As many as the codes of the accounts that may be begun have at first. */
const guessesPerAccount = 5;

/**
 * Counts a guess at a code, beside what is counted for each code and address: whoever begins accounts with many strangers'
 * addresses, and guesses at each, needs only one of them.
 */
export function admitCodeGuess(kv: KeyValueStore, limits: SignUpLimits, ip: string): Promise<Admission> {
  return admit(kv, limits.windowMs, [
    ...byNetwork('sign-up-guess:address', ip, limits.address * guessesPerAccount),
    ['overall', 'sign-up-guess:overall', limits.overall * guessesPerAccount, limits.slow],
  ]);
}

/** Counts another code for an account that was begun: one mailbox may have any number of addresses (`ida+1@…`). */
export function admitCodeMail(kv: KeyValueStore, limits: SignUpLimits, ip: string): Promise<Admission> {
  return admit(kv, limits.windowMs, [
    ...byNetwork('sign-up-code:address', ip, limits.address),
    ['overall', 'sign-up-code:overall', limits.overall, ofMails(limits.slow)],
  ]);
}

const partnerWindowMs = 60_000;
const partnerChecks = 30;

/** Whoever tries addresses out learns who bought a partner's deal. As often as the JSON API's own call. */
export async function admitPartnerCheck(kv: KeyValueStore, ip: string): Promise<Admission> {
  return admit(kv, partnerWindowMs, byNetwork('partner-check', ip, partnerChecks));
}
