import {
  consumeLimits,
  type LimitDecision,
  type LimitStore,
  type RateLimits,
  rateLimits,
} from '../rate-limits/index.ts';

export type SignUpLimitSettings = Pick<RateLimits, 'signUp' | 'companySignUp' | 'signUpCode' | 'signUpGuess'>;

/**
 * Counts an account before it is begun, so that many at once cannot slip past.
 * @param company by a provider that vouches for addresses of its own: the colleagues of an office share an address
 */
export function consumeSignUp(
  kv: LimitStore,
  limits: SignUpLimitSettings,
  { ip, company = false }: { ip: string; company?: boolean },
): Promise<LimitDecision> {
  return consumeLimits(kv, company ? limits.companySignUp : limits.signUp, { address: ip });
}

/**
 * Counts a guess at a code, beside what is counted for each code and address: whoever begins accounts with many strangers'
 * addresses, and guesses at each, needs only one of them.
 */
export function consumeSignUpCodeGuess(
  kv: LimitStore,
  limits: SignUpLimitSettings,
  ip: string,
): Promise<LimitDecision> {
  return consumeLimits(kv, limits.signUpGuess, { address: ip });
}

/** Counts another code for an account that was begun: one mailbox may have any number of addresses (`ida+1@…`). */
export function consumeCodeMail(kv: LimitStore, limits: SignUpLimitSettings, ip: string): Promise<LimitDecision> {
  return consumeLimits(kv, limits.signUpCode, { address: ip });
}

/** A caller who tries many addresses learns who bought a partner's deal. */
export function consumePartnerCheck(kv: LimitStore, ip: string): Promise<LimitDecision> {
  return consumeLimits(kv, rateLimits.partnerDealCheck, { address: ip });
}
