import type { ClientId, SealedText, SessionIdHash, Sha256, UserId } from '../shared/index.ts';

/** Tables of client apps and their grants. See `schema.ts`. */

/** One client app. `metadata` is JSON in RFC 7591 names, without the secret. */
export interface ClientTable {
  id: ClientId;
  name: string;
  metadata: string;
  /** SHA-256 (base64url) of the client secret; null for public clients. */
  secretHash: Sha256 | null;
  /** SHA-256 (base64url) of the secret before that one. */
  previousSecretHash: Sha256 | null;
  /** Expiry of the previous secret (milliseconds since the epoch). */
  previousSecretExpiresAt: number | null;
  createdAt: number;
  updatedAt: number;
}

export interface SigningKeyTable {
  /** The JWK's `kid`. */
  id: string;
  alg: string;
  /** The private JWK, sealed (see secret-box.ts). */
  sealedJwk: SealedText;
  createdAt: number;
  /** Start of its use for signing; published before. */
  activatesAt: number;
  /** End of its publication; null for the newest. */
  expiresAt: number | null;
}

/** Records of the OpenID Provider that must survive a flushed key-value store: grants and refresh tokens. */
export interface OidcTable {
  model: string;
  /** SHA-256 (base64url) of the record's id; the id itself is a bearer secret and is never stored. */
  idHash: Sha256;
  /** JSON, sealed. */
  payload: SealedText;
  grantId: Sha256 | null;
  clientId: ClientId | null;
  accountId: UserId | null;
  /** Hash of its Foyer session. */
  foyerSession: SessionIdHash | null;
  /** 1: a grant that outlives its session (offline access, or a device); 0: it ends with the session. */
  offline: number;
  consumedAt: number | null;
  expiresAt: number;
}

/**
 * A client app with a user's consent, or with offline access. Scopes are those of the consent; empty if the
 * marketplace's own app needs none.
 */
export interface ConnectedAppTable {
  userId: UserId;
  clientId: ClientId;
  /** Separated by spaces. */
  scopes: string;
  /** JSON: scopes by the identifiers of resource servers, each separated by spaces. */
  resources: string;
  createdAt: number;
  lastUsedAt: number;
}

/**
 * The `sid` of a Foyer session for a client app with back-channel logout (OpenID Connect Back-Channel Logout 1.0). Not
 * part of the grant: revoked tokens end that, while the user is still signed in there.
 */
export interface ClientSessionTable {
  /** As in its id tokens. */
  sid: string;
  /** Hash of the Foyer session. */
  foyerSession: SessionIdHash;
  clientId: ClientId;
  accountId: UserId;
  createdAt: number;
  /** Later than any session; extended while it is used. */
  expiresAt: number;
}

/** An API of the marketplace that accepts JWT access tokens. */
export interface ResourceServerTable {
  /** Absolute URI. */
  identifier: string;
  /** Separated by spaces. */
  scopes: string;
  signingAlg: 'ES256' | 'RS256';
  createdAt: number;
}
