import { z } from 'zod';
import { type UpstreamSession, upstreamSessionSchema } from '../sessions/index.ts';

const providerKinds = ['google', 'facebook', 'amazon', 'oidc', 'saml'] as const;
export type ProviderKind = (typeof providerKinds)[number];

/**
 * Somebody as a provider vouches for them: what every strategy maps its answer to, and all that the rest of the house
 * learns of it. The provider's tokens are not in it: they are used while the answer is read, and kept nowhere.
 */
export interface UpstreamIdentity {
  /** The configured provider's id. */
  provider: string;
  kind: ProviderKind;
  /** OpenID Connect: `iss`; SAML: the entity id; the others: one address that stands for the provider. */
  issuer: string;
  /** Names the person at the issuer for good; with kind and issuer it identifies a link (`security.md`, rule 15). */
  subject: string;
  /** The provider may give this subject to another person later, as it does with user names and addresses. */
  reusable?: true | undefined;
  /** As `normalEmail`; undefined: the provider gave none, or none that is an address. */
  email: string | undefined;
  /** By the provider's word *and* by what is configured for it. */
  emailVerified: boolean;
  givenName: string;
  familyName: string;
  /** An https address. */
  picture: string | undefined;
  /**
   * When the person showed there who they are, as far as the provider says it: who has a session there is let through without
   * a word. Undefined: just now, as far as is known. Milliseconds since the epoch.
   */
  shownAtMs?: number | undefined;
  /** Nothing shows that the provider had the person sign in for this attempt: a session there may have been enough. */
  stale?: true | undefined;
  /** For a single logout later; undefined where the provider has none. */
  session: UpstreamSession;
}

/** The same, read from a store: JSON leaves out what is undefined. */
export const upstreamIdentitySchema: z.ZodType<UpstreamIdentity> = z
  .object({
    provider: z.string(),
    kind: z.enum(providerKinds),
    issuer: z.string(),
    subject: z.string(),
    reusable: z.literal(true).optional(),
    email: z.string().optional(),
    emailVerified: z.boolean(),
    givenName: z.string().default(''),
    familyName: z.string().default(''),
    picture: z.string().optional(),
    shownAtMs: z.number().optional(),
    stale: z.literal(true).optional(),
    session: upstreamSessionSchema,
  })
  .transform(({ email, picture, ...identity }) => ({ ...identity, email, picture }));

/** '' where the provider gave none. Tests and old stores may lack either part. */
export const wholeName = ({
  givenName,
  familyName,
}: Partial<Pick<UpstreamIdentity, 'givenName' | 'familyName'>>): string =>
  `${givenName ?? ''} ${familyName ?? ''}`.trim();

/** Why a way through a provider ended without anybody being signed in; each has its text in locales/<language>/federation.json. */
export const refusalKinds = [
  /** The person pressed Cancel there, or the provider refused them. */
  'cancelled',
  /** The provider said that something is wrong, with it or with the request. */
  'provider-error',
  /** It does not answer, or too late. */
  'unreachable',
  /** The answer is not what the protocol says: signature, audience, issuer, time … */
  'invalid',
  /** The answer came too late, or for the second time. */
  'over',
  /** The answer belongs to no attempt of this browser. */
  'foreign',
  'no-email',
  /** Nobody becomes a member by this provider. */
  'sign-up-closed',
  /** The address is a member's, and nothing proves that it is the same person. */
  'email-taken',
  'disabled',
  /** Link: who the person is there is linked to another member. */
  'linked-elsewhere',
  /** Asked again who they are: it is somebody else. */
  'not-yours',
  /** Asked again who they are: nothing shows that the provider asked the person. */
  'not-fresh',
  'too-many',
] as const;
export type RefusalKind = (typeof refusalKinds)[number];

/** The provider's own form expired before the person sent it: to ask again at once is all that is needed. */
export const expiredThere = 'the form of the provider had expired';

/** Thrown by strategies; `detail` is for the log alone and holds no secret, token or assertion. */
export class FederationError extends Error {
  override name = 'FederationRefusal';
  readonly kind: RefusalKind;
  readonly detail: string;
  /** Of what there was too much, for the log. */
  readonly count: number | undefined;
  constructor(kind: RefusalKind, detail: string, count?: number) {
    super(`${kind}: ${detail}`);
    this.count = count;
    this.kind = kind;
    this.detail = detail;
  }
}
