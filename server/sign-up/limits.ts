import { countedAddress } from '../http/index.ts';
import { type Admission, admit } from '../password/index.ts';
import type { KeyValueStore } from '../store/index.ts';

/** How many accounts may be begun within one window. */
export interface SignUpLimits {
  windowMs: number;
  /** From one address (IPv6: one /64 network). */
  address: number;
  /** From one, by providers that vouch for addresses of their own: the colleagues of an office. */
  company: number;
  /** From all together. */
  overall: number;
}

/** Counts an account before it is begun, so that many at once cannot slip past. */
export function admitSignUp(
  kv: KeyValueStore,
  limits: SignUpLimits,
  { ip, company = false }: { ip: string; company?: boolean },
): Promise<Admission> {
  const address = countedAddress(ip);
  return admit(kv, limits.windowMs, [
    company
      ? ['address', `sign-up:company:${address}`, limits.company]
      : ['address', `sign-up:address:${address}`, limits.address],
    ['overall', 'sign-up:overall', limits.overall],
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
    ['address', `sign-up-guess:address:${countedAddress(ip)}`, limits.address * guessesPerAccount],
    ['overall', 'sign-up-guess:overall', limits.overall * guessesPerAccount],
  ]);
}

/** Counts another code for an account that was begun: one mailbox may have any number of addresses (`ida+1@…`). */
export function admitCodeMail(kv: KeyValueStore, limits: SignUpLimits, ip: string): Promise<Admission> {
  return admit(kv, limits.windowMs, [
    ['address', `sign-up-code:address:${countedAddress(ip)}`, limits.address],
    ['overall', 'sign-up-code:overall', limits.overall],
  ]);
}

const partnerWindowMs = 60_000;
const partnerChecks = 30;

/** Whoever tries addresses out learns who bought a partner's deal. As often as the JSON API's own call. */
export async function admitPartnerCheck(kv: KeyValueStore, ip: string): Promise<Admission> {
  return admit(kv, partnerWindowMs, [['address', `partner-check:${countedAddress(ip)}`, partnerChecks]]);
}
