import type { NormalisedEmail, ProviderId, UserId } from '../shared/index.ts';

/** Tables of federated users. See `schema.ts`. */

/**
 * A user's identity at a provider (OpenID Connect Core 1.0, section 2: issuer and subject; SAML 2.0: entity id and
 * name).
 */
export interface FederatedIdentityTable {
  id: string;
  userId: UserId;
  /** Issuers of different protocols are unrelated. */
  kind: 'google' | 'facebook' | 'amazon' | 'oidc' | 'saml';
  issuer: string;
  subject: string;
  /** The configured provider of the last use; not part of the identity. */
  provider: ProviderId;
  /** The provider's latest address, for the user to recognize; not part of the identity. */
  email: NormalisedEmail | null;
  /** The provider's latest name; null: unknown. Not part of the identity, but it reveals a reassigned subject. */
  name: string | null;
  linkedAt: number;
  /** null: linked, but never used for a sign-in. */
  lastUsedAt: number | null;
}
