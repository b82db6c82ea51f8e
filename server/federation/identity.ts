import { z } from 'zod';
import { type ProviderKind, providerKinds } from '../../config/standard-providers.ts';
import { type UpstreamSession, upstreamSessionSchema } from '../sessions/index.ts';
import {
  type NormalisedEmail,
  normalisedEmailSchema,
  type ProviderId,
  providerIdSchema,
  type UserId,
} from '../shared/index.ts';

/**
 * An identity for which a provider vouches: every strategy maps its response to this, and other modules see nothing
 * else. The provider's tokens are not in it: they are used while the response is read, and never stored.
 */
export interface UpstreamIdentity {
  provider: ProviderId;
  kind: ProviderKind;
  /** OpenID Connect: `iss`; SAML: the entity id; the others: one fixed address for the provider. */
  issuer: string;
  /**
   * The permanent identifier of the person at the issuer; with kind and issuer it identifies a link (`security.md`,
   * rule 15).
   */
  subject: string;
  /** The provider may assign this subject to another person later, as with user names and addresses. */
  reusable?: true | undefined;
  /** undefined: the provider gave no valid address. */
  email: NormalisedEmail | undefined;
  /** True only if both the provider and the configuration say so. */
  emailVerified: boolean;
  givenName: string;
  familyName: string;
  /** An https address. */
  picture: string | undefined;
  /**
   * The time of the authentication there, if the provider gives it: a provider with a live session answers without
   * asking. Undefined: now, as far as is known. Milliseconds since the epoch.
   */
  shownAtMs?: number | undefined;
  /**
   * There is no proof that the provider authenticated the person for this attempt: a session there may have sufficed.
   */
  stale?: true | undefined;
  /** For a later single logout; undefined if the provider has none. */
  session: UpstreamSession;
}

/** Schema for reading it from a store: JSON omits undefined values. */
export const upstreamIdentitySchema: z.ZodType<UpstreamIdentity> = z
  .object({
    provider: providerIdSchema,
    kind: z.enum(providerKinds),
    issuer: z.string(),
    subject: z.string(),
    reusable: z.literal(true).optional(),
    email: normalisedEmailSchema.optional(),
    emailVerified: z.boolean(),
    givenName: z.string().default(''),
    familyName: z.string().default(''),
    picture: z.string().optional(),
    shownAtMs: z.number().optional(),
    stale: z.literal(true).optional(),
    session: upstreamSessionSchema,
  })
  .transform(({ email, picture, ...identity }) => ({ ...identity, email, picture }));

/** '' if the provider gave none. Tests and old stores may lack either part. */
export const wholeName = ({
  givenName,
  familyName,
}: Partial<Pick<UpstreamIdentity, 'givenName' | 'familyName'>>): string =>
  `${givenName ?? ''} ${familyName ?? ''}`.trim();

/**
 * The reasons for which a federated sign-in ends without a session; each has its text in
 * locales/<language>/federation.json.
 */
export const refusalKinds = [
  /** The person cancelled there, or the provider refused them. */
  'cancelled',
  /** The provider reported a fault of itself or of the request. */
  'provider-error',
  /** Only the operator or the provider can mend it: wrong credentials, an algorithm that is not supported. */
  'not-set-up',
  /** It does not answer, or too late. */
  'unreachable',
  /** The response violates the protocol: signature, audience, issuer, time … */
  'invalid',
  /** The response came too late, or for the second time. */
  'over',
  /** The response belongs to no attempt of this browser. */
  'foreign',
  'no-email',
  /** This provider does not create users. */
  'sign-up-closed',
  /** The address belongs to a user, and nothing proves that it is the same person. */
  'email-taken',
  'disabled',
  /** Link: the identity is linked to another user. */
  'linked-elsewhere',
  /** Re-authentication: another person authenticated. */
  'not-yours',
  /** Re-authentication: there is no proof that the provider asked the person. */
  'not-fresh',
  'too-many',
] as const;
export type RefusalKind = (typeof refusalKinds)[number];

/** The provider's own form expired before the person submitted it: a second request suffices. */
export const expiredThere = 'the form of the provider had expired';

/** Thrown by strategies; `detail` is only for the log and contains no secret, token or assertion. */
export class FederationError extends Error {
  override name = 'FederationRefusal';
  readonly kind: RefusalKind;
  readonly detail: string;
  /** The number that exceeded a limit, for the log. */
  readonly count: number | undefined;
  /** The known user whose sign-in is refused, for the audit trail. */
  readonly userId: UserId | undefined;
  constructor(kind: RefusalKind, detail: string, { count, userId }: { count?: number; userId?: UserId } = {}) {
    super(`${kind}: ${detail}`);
    this.count = count;
    this.userId = userId;
    this.kind = kind;
    this.detail = detail;
  }
}
