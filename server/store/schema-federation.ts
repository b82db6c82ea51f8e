import type { UserId } from '../shared/index.ts';

/** Tables of members who come by a provider. As in `schema.ts`. */

/** Who a member is at a provider (OpenID Connect Core 1.0, section 2: issuer and subject; SAML 2.0: entity id and name). */
export interface FederatedIdentityTable {
  id: string;
  user_id: UserId;
  /** google, facebook, amazon, oidc or saml: an issuer's names of one protocol say nothing about those of another. */
  kind: string;
  issuer: string;
  subject: string;
  /** By which of the configured providers it was last seen; it identifies nobody. */
  provider: string;
  /** As the provider last said, for the member to recognise it by; it identifies nobody. */
  email: string | null;
  /** As the provider last gave it; null: unknown. It identifies nobody, but a name that changes hands changes it. */
  name?: string | null;
  linked_at: number;
  /** null: linked, but never signed in with. */
  last_used_at: number | null;
}
