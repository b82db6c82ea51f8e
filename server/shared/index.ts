/**
 * The module of values and functions without state that every other module may use, and of the interface through which
 * modules report to the operator. It imports no other module.
 */
export { readBrowserName } from './browser-name.ts';
export { type KeyedDigest, keyedDigest, randomToken, sha256 } from './crypto.ts';
export { createDigestSet, type DigestSet } from './digest-set.ts';
export { createEvent, runInTurn, type Subscribers } from './hooks.ts';
export {
  type ClientId,
  clientIdSchema,
  type E164,
  e164Schema,
  type FlowId,
  flowIdSchema,
  type NormalisedEmail,
  normalisedEmailSchema,
  type PlanId,
  type PlanKey,
  type ProviderId,
  planIdSchema,
  providerIdSchema,
  type SealedText,
  type SessionId,
  type SessionIdHash,
  type Sha256,
  type StripeCustomerId,
  type StripeInvoiceId,
  type StripeSubscriptionId,
  sealedTextSchema,
  sessionIdHashSchema,
  sha256Schema,
  stripeInvoiceIdSchema,
  stripeSubscriptionIdSchema,
  toClientId,
  toE164,
  toFlowId,
  toNormalisedEmail,
  toPlanId,
  toPlanKey,
  toProviderId,
  toSealedText,
  toSessionId,
  toSessionIdHash,
  toSha256,
  toStripeCustomerId,
  toStripeInvoiceId,
  toStripeSubscriptionId,
  toUserId,
  type UserId,
  userIdSchema,
} from './ids.ts';
export { parseUnknownJson } from './json.ts';
export {
  type ClientType,
  type GuessLimit,
  type IssuedKind,
  type MessageChannel,
  type Metrics,
  noMetrics,
} from './metrics.ts';
export { once } from './once.ts';
export { toPublicOutcome } from './public-outcome.ts';
export { readShortText } from './short-text.ts';
export { addMonths, dayMs, hourMs, minuteMs } from './time.ts';
export { isItemIn, isKeyIn, keysIn, propertyIn } from './unknown.ts';
