import { consumeLimits, type LimitDecision, type LimitStore, type RateLimits } from '../rate-limits/index.ts';

export type UserCodeLimits = Pick<RateLimits, 'userCode' | 'signedInUserCode'>;

/**
 * Counts a code that a person types, before it is looked up (RFC 8628, section 5.1). Members are counted apart from
 * visitors, so that visitors keep no member from connecting a device.
 */
export function consumeUserCode(
  kv: LimitStore,
  limits: UserCodeLimits,
  { ip, member }: { ip: string; member: string | undefined },
): Promise<LimitDecision> {
  return member === undefined
    ? consumeLimits(kv, limits.userCode, { address: ip })
    : consumeLimits(kv, limits.signedInUserCode, { address: ip, account: member });
}
