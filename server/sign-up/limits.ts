import { consumeLimits, type LimitDecision, type LimitStore, type RateLimits, rateLimits } from '../http/index.ts';

export type SignUpLimitSettings = Pick<RateLimits, 'signUp' | 'companySignUp' | 'signUpCode' | 'signUpGuess'>;

/**
 * Counts a sign-up before it starts, so that parallel ones cannot exceed the limit.
 * @param company with a provider that vouches for its own domains: the colleagues of an office share an address
 */
export function consumeSignUp(
  kv: LimitStore,
  limits: SignUpLimitSettings,
  { ip, company = false }: { ip: string; company?: boolean },
): Promise<LimitDecision> {
  return consumeLimits(kv, company ? limits.companySignUp : limits.signUp, { address: ip });
}

/**
 * Counts an attempt with a code, in addition to the limits for each code and address: an attacker who starts sign-ups
 * with many addresses, and guesses at each, needs only one of them.
 */
export function consumeSignUpCodeGuess(
  kv: LimitStore,
  limits: SignUpLimitSettings,
  ip: string,
): Promise<LimitDecision> {
  return consumeLimits(kv, limits.signUpGuess, { address: ip });
}

/** Counts another code for a sign-up: one mailbox may have any number of addresses (`ida+1@…`). */
export function consumeCodeMail(kv: LimitStore, limits: SignUpLimitSettings, ip: string): Promise<LimitDecision> {
  return consumeLimits(kv, limits.signUpCode, { address: ip });
}

/** A caller who tries many addresses learns who bought a partner's deal. */
export function consumePartnerCheck(kv: LimitStore, ip: string): Promise<LimitDecision> {
  return consumeLimits(kv, rateLimits.partnerDealCheck, { address: ip });
}
