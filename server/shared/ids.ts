import { z } from 'zod';

/**
 * A text that the compiler distinguishes from every other text. At run time it is the text itself. Only the functions and
 * schemas of this file create one; row mappers, parsers and readers of requests call them.
 */
type Branded<Name extends string> = string & z.core.$brand<Name>;

/** SHA-256 in base64url (`sha256`). */
export type Sha256 = Branded<'Sha256'>;
/** A text that a secret box has sealed. */
export type SealedText = Branded<'SealedText'>;
/** The id of a session: the bearer secret in the cookie. It is stored nowhere. */
export type SessionId = Branded<'SessionId'>;
/** SHA-256 of the id of a session: the name of the session in the stores. */
export type SessionIdHash = Branded<'SessionIdHash'>;
/** The id of a client app. */
export type ClientId = Branded<'ClientId'>;
/** The id of a user. */
export type UserId = Branded<'UserId'>;
/** The id of a plan, as the stores have it. */
export type PlanId = Branded<'PlanId'>;
/** The public handle of a plan, as addresses have it. */
export type PlanKey = Branded<'PlanKey'>;
/** The id of a customer at Stripe. */
export type StripeCustomerId = Branded<'StripeCustomerId'>;
/** The id of a subscription at Stripe. */
export type StripeSubscriptionId = Branded<'StripeSubscriptionId'>;
/** The id of an invoice at Stripe. */
export type StripeInvoiceId = Branded<'StripeInvoiceId'>;
/** The id of the record of one browser: a bearer secret, stored as its hash alone. */
export type FlowId = Branded<'FlowId'>;
/** The id of a configured provider. The schema of the configuration brands it too, because it imports no module. */
export type ProviderId = Branded<'ProviderId'>;
/** An e-mail address in its stored form (`normaliseEmail`). */
export type NormalisedEmail = Branded<'NormalisedEmail'>;
/** A phone number in its stored form (`normalisePhone`). */
export type E164 = Branded<'E164'>;

export const toSha256 = (text: string): Sha256 => text as Sha256;
export const toSealedText = (text: string): SealedText => text as SealedText;
export const toSessionId = (text: string): SessionId => text as SessionId;
export const toSessionIdHash = (text: string): SessionIdHash => text as SessionIdHash;
export const toClientId = (text: string): ClientId => text as ClientId;
export const toUserId = (text: string): UserId => text as UserId;
export const toPlanId = (text: string): PlanId => text as PlanId;
export const toPlanKey = (text: string): PlanKey => text as PlanKey;
export const toStripeCustomerId = (text: string): StripeCustomerId => text as StripeCustomerId;
export const toStripeSubscriptionId = (text: string): StripeSubscriptionId => text as StripeSubscriptionId;
export const toStripeInvoiceId = (text: string): StripeInvoiceId => text as StripeInvoiceId;
export const toFlowId = (text: string): FlowId => text as FlowId;
export const toProviderId = (text: string): ProviderId => text as ProviderId;
export const toNormalisedEmail = (text: string): NormalisedEmail => text as NormalisedEmail;
export const toE164 = (text: string): E164 => text as E164;

export const sha256Schema = z.string().brand<'Sha256'>();
export const sealedTextSchema = z.string().brand<'SealedText'>();
export const sessionIdHashSchema = z.string().brand<'SessionIdHash'>();
export const userIdSchema = z.string().brand<'UserId'>();
export const clientIdSchema = z.string().brand<'ClientId'>();
export const planIdSchema = z.string().brand<'PlanId'>();
export const planKeySchema = z.string().brand<'PlanKey'>();
export const stripeSubscriptionIdSchema = z.string().brand<'StripeSubscriptionId'>();
export const stripeInvoiceIdSchema = z.string().brand<'StripeInvoiceId'>();
export const flowIdSchema = z.string().brand<'FlowId'>();
export const providerIdSchema = z.string().brand<'ProviderId'>();
export const normalisedEmailSchema = z.string().brand<'NormalisedEmail'>();
export const e164Schema = z.string().brand<'E164'>();
