/**
 * The module of rate limits: one table (`limits.ts`), and the counting over all processes (NIST SP 800-63B, section
 * 3.2.2; RFC 6585, section 4).
 * Owns the limits and their counters. Does not own the answer to a refused request: that is its module's, with
 * `Retry-After` by `retrySeconds` of http/.
 */
export { apiCallLimits } from './api-calls.ts';
export { configureLimits, type LimitSettings, type RateLimits } from './configure.ts';
export {
  consumeLimits,
  type Limit,
  type LimitDecision,
  type LimitKeys,
  type LimitRefusal,
  type LimitStore,
  toCounterKey,
} from './consume.ts';
export { rateLimiter } from './express.ts';
export { ipBucket, ipBuckets } from './ip-bucket.ts';
export { rateLimits } from './limits.ts';
export type { FirmLimit } from './slow-lane.ts';
export { specialLimits } from './special-limits.ts';
export { createVisitorGate, guardVisitorForms, toLifetime, type VisitorGate, visitorRowMs } from './visitor-gate.ts';
