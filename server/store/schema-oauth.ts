import type { ClientId, SealedText, SessionIdHash, Sha256, UserId } from '../shared/index.ts';

/** Tables of client apps and their grants. See `schema.ts`. */

/** One client app. `metadata` is JSON in RFC 7591 names, without the secret. */
export interface ClientTable {
  id: ClientId;
  name: string;
  metadata: string;
  /** SHA-256 (base64url) of the client secret; null for public clients. */
  secret_hash: Sha256 | null;
  /** SHA-256 (base64url) of the secret before that one. */
  previous_secret_hash: Sha256 | null;
  /** Expiry of the previous secret (milliseconds since the epoch). */
  previous_secret_expires_at: number | null;
  created_at: number;
  updated_at: number;
}

export interface SigningKeyTable {
  /** The JWK's `kid`. */
  id: string;
  alg: string;
  /** The private JWK, sealed (see secret-box.ts). */
  sealed_jwk: SealedText;
  created_at: number;
  /** Start of its use for signing; published before. */
  activates_at: number;
  /** End of its publication; null for the newest. */
  expires_at: number | null;
}

/** Records of the OpenID Provider that must survive a flushed key-value store: grants and refresh tokens. */
export interface OidcTable {
  model: string;
  /** SHA-256 (base64url) of the record's id; the id itself is a bearer secret and is never stored. */
  id_hash: Sha256;
  /** JSON, sealed. */
  payload: SealedText;
  grant_id: Sha256 | null;
  client_id: ClientId | null;
  account_id: UserId | null;
  /** Hash of its Foyer session. */
  foyer_session: SessionIdHash | null;
  /** 1: a grant that outlives its session (offline access, or a device); 0: it ends with the session. */
  offline: number;
  consumed_at: number | null;
  expires_at: number;
}

/**
 * A client app with a user's consent, or with offline access. Scopes are those of the consent; empty if the
 * marketplace's own app needs none.
 */
export interface ConnectedAppTable {
  user_id: UserId;
  client_id: ClientId;
  /** Separated by spaces. */
  scopes: string;
  /** JSON: scopes by the identifiers of resource servers, each separated by spaces. */
  resources: string;
  created_at: number;
  last_used_at: number;
}

/**
 * The `sid` of a Foyer session for a client app with back-channel logout (OpenID Connect Back-Channel Logout 1.0). Not
 * part of the grant: revoked tokens end that, while the user is still signed in there.
 */
export interface ClientSessionTable {
  /** As in its id tokens. */
  sid: string;
  /** Hash of the Foyer session. */
  foyer_session: SessionIdHash;
  client_id: ClientId;
  account_id: UserId;
  created_at: number;
  /** Later than any session; extended while it is used. */
  expires_at: number;
}

/** An API of the marketplace that accepts JWT access tokens. */
export interface ResourceServerTable {
  /** Absolute URI. */
  identifier: string;
  /** Separated by spaces. */
  scopes: string;
  /** ES256 or RS256. */
  signing_alg: string;
  created_at: number;
}
