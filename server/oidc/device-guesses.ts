import { consumeLimits, type LimitDecision, type LimitStore, type RateLimits } from '../http/index.ts';

export type UserCodeLimits = Pick<RateLimits, 'userCode' | 'signedInUserCode'>;

/**
 * Counts a typed user code before it is looked up (RFC 8628, section 5.1). Users are counted separately from visitors,
 * so that visitors cannot prevent a user from connecting a device.
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
